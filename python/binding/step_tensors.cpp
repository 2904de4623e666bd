// SPDX-License-Identifier: MIT
#include "step_tensors.hpp"

#include "host_buffer.hpp"
#include "own_memory.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

namespace nb = nanobind;

namespace barmap::python {
namespace {

std::vector<step_tensor> checked(tensor_list const& tensors) {
    std::vector<step_tensor> result;
    for (auto const& [address, bytes] : tensors)
        result.push_back({address, bytes});
    return result;
}

/// The GPU that has the first of them, and must have all. @throws error
device const& gpu_of(tensor_list const& tensors) {
    if (tensors.empty())
        throw error(errc::invalid_argument, "make the tensors of a step", "", "give at least one");
    return device_that_owns(tensors.front().first);
}

template <class Steps>
sight look(Steps& steps, std::chrono::nanoseconds at_most) noexcept {
    if (steps.wait_for(at_most))
        return sight::found;
    if (!steps.failed())
        return sight::nothing;
    return steps.wait_for(std::chrono::nanoseconds(0)) ? sight::found : sight::over;
}

} // namespace

template <class Steps>
held_steps<Steps>::held_steps(tensor_list const& tensors, std::size_t versions)
    : held<Steps>(std::is_same_v<Steps, step_inputs> ? "StepInputs" : "StepOutputs",
                  [&] { return Steps(gpu_of(tensors), checked(tensors), versions); }) {
    std::shared_ptr<Steps> const steps = this->shared();
    std::byte const* const first = steps->staging(0).data();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        std::span<std::byte const> const part = steps->staging(i);
        offsets_.push_back(static_cast<std::size_t>(part.data() - first));
        bytes_ = offsets_.back() + part.size();
    }
}

template <class Steps>
bool held_steps<Steps>::wait(std::optional<double> seconds) {
    return held<Steps>::wait(seconds, &look<Steps>);
}

template <class Steps>
void held_steps<Steps>::launch(std::uintptr_t stream) {
    std::shared_ptr<Steps> here = this->shared();
    // A stream that has been given much keeps its callers until it has done some of that, which may
    // wait for a push of another thread: so this takes no turn.
    released_gil const others_run;
    std::shared_ptr<Steps> const mine = std::move(here);
    auto* const handle = reinterpret_cast<void*>(stream);
    if constexpr (std::is_same_v<Steps, step_inputs>)
        mine->enqueue_load(handle);
    else
        mine->enqueue_store(handle);
}

template <class Steps>
bool held_steps<Steps>::failed() {
    return this->shared()->failed();
}

void held_inputs::describe(nb::list const& of) {
    for (nb::handle each : of) {
        input made{nb::object(each[0]), nb::object(each[1]), {}};
        for (nb::handle length : each[2])
            made.shape.push_back(nb::cast<Py_ssize_t>(length));
        indices_[made.name] = nb::int_(inputs_.size());
        inputs_.push_back(std::move(made));
    }
}

std::size_t held_inputs::index_of(nb::handle name) const {
    PyObject* const found = PyDict_GetItemWithError(indices_.ptr(), name.ptr());
    if (found)
        return PyLong_AsSize_t(found);
    if (PyErr_Occurred())
        throw nb::python_error();
    raise(PyExc_ValueError, "there is no input %R: the inputs are %S", name.ptr(),
          nb::list(indices_.keys()).ptr());
}

void held_inputs::refuse(input const& to, nb::handle array) const {
    nb::list shape;
    for (Py_ssize_t const length : to.shape)
        shape.append(length);
    if (!nb::hasattr(array, "dtype"))
        raise(PyExc_TypeError, "%S is a %S: give a NumPy array of %S and shape %S", to.name.ptr(),
              nb::inst_name(array).ptr(), to.dtype.ptr(), nb::tuple(shape).ptr());
    nb::object const name_of = nb::module_::import_("barmap._base.naming").attr("dtype_name");
    raise(PyExc_TypeError, "%S has elements of %S, and the input has %S: convert them (astype)",
          to.name.ptr(), name_of(array.attr("dtype")).ptr(), name_of(to.dtype).ptr());
}

/// An array that was checked, and its buffer, until this goes.
class held_inputs::given_array {
public:
    given_array(held_inputs const& of, std::size_t index, nb::handle array) : index_(index) {
        static PyObject* const dtype_name = PyUnicode_InternFromString("dtype");
        input const& to = of.inputs_[index];
        nb::object const dtype = nb::steal(PyObject_GetAttr(array.ptr(), dtype_name));
        bool is_equal = dtype.is(to.dtype);
        if (dtype.is_valid() && !is_equal) {
            int const equal = PyObject_RichCompareBool(dtype.ptr(), to.dtype.ptr(), Py_EQ);
            is_equal = equal == 1;
        }
        PyErr_Clear(); // what cannot be compared is of another kind
        if (!is_equal)
            of.refuse(to, array);
        if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_STRIDES) != 0)
            throw nb::python_error();
        bool const has_shape = static_cast<std::size_t>(view_.ndim) == to.shape.size() &&
                               std::equal(to.shape.begin(), to.shape.end(), view_.shape);
        bool const is_contiguous = PyBuffer_IsContiguous(&view_, 'C') == 1;
        if (has_shape && is_contiguous)
            return;
        PyBuffer_Release(&view_);
        if (!is_contiguous)
            raise(PyExc_ValueError, "%S is not contiguous: copy it (np.ascontiguousarray)",
                  to.name.ptr());
        nb::list shape;
        for (Py_ssize_t const length : to.shape)
            shape.append(length);
        raise(PyExc_ValueError, "%S has the shape %S, and the input has %S (reshape)",
              to.name.ptr(), array.attr("shape").ptr(), nb::tuple(shape).ptr());
    }
    given_array(given_array&& other) noexcept : index_(other.index_), view_(other.view_) {
        other.view_.obj = nullptr; // then it is not released
    }
    given_array(given_array const&) = delete;
    given_array& operator=(given_array const&) = delete;
    given_array& operator=(given_array&&) = delete;
    ~given_array() {
        if (view_.obj)
            PyBuffer_Release(&view_);
    }

    void copy_to(step_inputs const& inputs) const noexcept {
        std::span<std::byte> const to = inputs.staging(index_);
        std::memmove(to.data(), view_.buf, to.size()); // it may be what host holds
    }

private:
    std::size_t index_;
    Py_buffer view_;
};

bool held_inputs::push(nb::handle arrays) {
    std::vector<given_array> given;
    if (!arrays.is_none()) {
        if (!PyDict_Check(arrays.ptr()))
            raise(PyExc_TypeError, "a %S of arrays was given: give a dict of them by name",
                  nb::inst_name(arrays).ptr());
        // Of our own: what compares dtypes may be Python code, which could change it.
        nb::object const mine = nb::steal(PyDict_Copy(arrays.ptr()));
        if (!mine.is_valid())
            throw nb::python_error();
        given.reserve(static_cast<std::size_t>(PyDict_Size(mine.ptr())));
        PyObject *name = nullptr, *array = nullptr;
        // They mostly come in the order in which they were described.
        for (Py_ssize_t at = 0; PyDict_Next(mine.ptr(), &at, &name, &array);) {
            std::size_t const next = given.size();
            bool const is_next = next < inputs_.size() && inputs_[next].name.is(name);
            given.emplace_back(*this, is_next ? next : index_of(name), array);
        }
    }
    return in_turn(!keeps_gil(copy_direction::to_gpu, bytes()), [&given](step_inputs& inputs) {
        for (given_array const& each : given)
            each.copy_to(inputs);
        return inputs.try_push();
    });
}

namespace {

using array_of_bytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;

/// The staging memory of all inputs, which keeps them.
array_of_bytes staging(held_inputs& of) {
    auto kept = std::make_unique<std::shared_ptr<step_inputs>>(of.shared());
    std::byte* const data = (*kept)->staging(0).data();
    nb::capsule const owner(kept.get(), [](void* gone) noexcept {
        released_gil const others_run; // CUDA may wait for the GPU
        delete static_cast<std::shared_ptr<step_inputs>*>(gone);
    });
    (void)kept.release();
    return array_of_bytes(data, {of.bytes()}, owner);
}

/// Pops into memory of bytes(). @return whether there was anything
bool pop_to(held_steps<step_outputs>& from, std::uintptr_t address, std::size_t bytes) {
    if (bytes != from.bytes())
        raise(PyExc_ValueError, "the buffer has %zu bytes, and not %zu", bytes, from.bytes());
    // Out of the CPU's own memory, as with rings.
    return from.in_turn(!keeps_gil(copy_direction::to_gpu, bytes), [=](step_outputs& outputs) {
        if (!outputs.try_pop())
            return false;
        std::memcpy(reinterpret_cast<void*>(address), outputs.staging(0).data(), bytes);
        return true;
    });
}

/// The same into a writable buffer.
bool pop_outputs(held_steps<step_outputs>& from, buffer results) {
    host_buffer const to(results, PyBUF_WRITABLE);
    std::span<std::byte> const bytes = to.bytes();
    return pop_to(from, reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size());
}

/// The common part of both.
template <class Held>
nb::class_<Held> bind_either(nb::module_& module, char const* name, char const* launch) {
    return nb::class_<Held>(module, name)
        .def(nb::init<tensor_list const&, std::size_t>(), nb::arg("tensors"), nb::arg("versions"))
        .def("release", &Held::release)
        .def("wait", &Held::wait, nb::arg("seconds").none())
        .def(launch, &Held::launch, nb::arg("stream"))
        .def_prop_ro("failed", &Held::failed)
        .def_prop_ro("released", &Held::is_released)
        .def_prop_ro("offsets", &Held::offsets)
        .def_prop_ro("nbytes", &Held::bytes);
}

} // namespace

void bind_steps(nb::module_& module) {
    bind_either<held_inputs>(module, "StepInputs", "enqueue_load")
        .def("describe", &held_inputs::describe, nb::arg("inputs"),
             nb::sig("def describe(self, inputs: list[tuple[str, numpy.dtype[typing.Any], "
                     "tuple[int, ...]]]) -> None"))
        .def("push", &held_inputs::push, nb::arg("arrays").none(),
             nb::sig("def push(self, arrays: collections.abc.Mapping[str, typing.Any] | None) "
                     "-> bool"))
        .def("staging", &staging);
    bind_either<held_steps<step_outputs>>(module, "StepOutputs", "enqueue_store")
        .def("pop", &pop_outputs, nb::arg("buffer"))
        .def("pop_to", &pop_to, nb::arg("address"), nb::arg("nbytes"));
}

} // namespace barmap::python
