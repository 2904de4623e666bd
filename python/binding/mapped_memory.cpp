// SPDX-License-Identifier: MIT
#include "mapped_memory.hpp"

#include "docstrings.hpp"
#include "errors.hpp"
#include "host_buffer.hpp"
#include "own_memory.hpp"
#include "released_gil.hpp"

#include <barmap/copy.hpp>
#include <barmap/error.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <array>
#include <utility>

namespace nb = nanobind;

namespace barmap::python {
namespace {

/// A Python integer as a word of so many bytes; negative numbers in two's complement.
std::uint64_t word_of(nb::handle value, int size) {
    nb::object const number = nb::steal(PyNumber_Index(value.ptr()));
    if (!number.is_valid())
        throw nb::python_error();
    int overflow = 0;
    long long const narrow = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow > 0 && size == 8) {
        unsigned long long const wide = PyLong_AsUnsignedLongLong(number.ptr());
        if (wide == static_cast<unsigned long long>(-1) && PyErr_Occurred())
            throw nb::python_error();
        return wide;
    }
    bool fits = overflow == 0;
    if (fits && size < 8)
        fits = narrow >= -(1LL << (8 * size - 1)) && narrow < (1LL << (8 * size));
    if (!fits) {
        PyErr_Format(PyExc_OverflowError, "the value does not fit into %d bytes", size);
        throw nb::python_error();
    }
    return static_cast<std::uint64_t>(narrow);
}

} // namespace

/// Lets other threads run during a long copy, and keeps them from closing.
class mapped_memory::copy_without_gil {
public:
    /// @param most largest copy that keeps the GIL, in bytes
    copy_without_gil(mapped_memory& memory, Py_ssize_t bytes, std::size_t most) noexcept
        : memory_(memory) {
        ++memory_.users_;
        if (static_cast<std::size_t>(bytes) > most)
            released_.emplace();
    }
    ~copy_without_gil() {
        released_.reset();
        --memory_.users_;
    }
    copy_without_gil(copy_without_gil const&) = delete;
    copy_without_gil& operator=(copy_without_gil const&) = delete;

private:
    mapped_memory& memory_;
    std::optional<released_gil> released_;
};

mapped_memory::mapped_memory(std::uintptr_t address, std::size_t bytes, std::string const& backend,
                             bool read_only, bool events)
    : read_only_(read_only) {
    released_gil const others_run;
    expect_not_forked("map GPU memory");
    std::shared_ptr<own_memory> const own = own_memory::holding(address, bytes);
    if (own && bytes != 0 && !events && (backend.empty() || backend == own->backend())) {
        ordinal_ = own->ordinal();
        use({own, &own->mapped()}, own->address(), address, bytes);
        return;
    }
    barmap::device const& owner = device_that_owns(address);
    ordinal_ = owner.ordinal();
    pin_options how;
    how.backend = backend;
    how.events = events;
    pin memory = owner.pin(address, bytes, how);
    use(std::make_shared<mapping const>(memory.map()), address, address, bytes);
    if (events)
        pin_ = std::move(memory);
}

mapped_memory::mapped_memory(std::size_t bytes, int ordinal, std::string const& backend)
    : ordinal_(ordinal) {
    released_gil const others_run;
    std::shared_ptr<own_memory> const own = own_memory::allocate(bytes, ordinal, backend);
    use({own, &own->mapped()}, own->address(), own->address(), bytes);
}

void mapped_memory::use(std::shared_ptr<mapping const> memory, std::uintptr_t start,
                        std::uintptr_t address, std::size_t bytes) {
    mapping_ = std::move(memory);
    window_ = mapping_->window(address - start, bytes);
    address_ = address;
    backend_ = mapping_->backend();
    kind_ = mapping_->kind();
    fork_generation_ = fork_generation();
}

mapped_memory::~mapped_memory() {
    if (!mapping_)
        return;
    // Unmapping may wait for a kernel that another thread is about to answer.
    released_gil const others_run;
    pin_ = {};
    mapping_.reset();
}

void mapped_memory::expect_open() const {
    if (closed()) [[unlikely]]
        throw nb::value_error("this mapping is closed");
    if (fork_generation_ != fork_generation()) [[unlikely]]
        throw error(errc::forked_child, "use a mapping", backend_,
                    "map again in the child, after starting it with spawn instead of fork");
}

void mapped_memory::expect_writable() const {
    if (read_only_) [[unlikely]]
        throw nb::type_error("this mapping is read-only, as the object that was mapped says");
}

window mapped_memory::subwindow(Py_ssize_t offset, Py_ssize_t bytes) const {
    auto const size = static_cast<Py_ssize_t>(window_.size);
    if (offset < 0 || bytes < 0 || offset > size || bytes > size - offset) [[unlikely]]
        throw error(errc::out_of_range,
                    "take " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                        " of a mapping of " + std::to_string(size),
                    backend_,
                    "stay inside the mapping; offsets and lengths count from its start and are not "
                    "negative");
    return window_.subwindow(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
}

void mapped_memory::write(nb::handle buffer, Py_ssize_t offset) {
    host_buffer const from(buffer, PyBUF_SIMPLE);
    expect_open(); // after the buffer was got: that may run Python
    expect_writable();
    window const to = subwindow(offset, from.size());
    copy_without_gil const others_run(*this, from.size(), written_with_gil);
    barmap::write(to, from.bytes());
}

nb::bytes mapped_memory::read(Py_ssize_t offset, std::optional<Py_ssize_t> bytes) {
    expect_open();
    Py_ssize_t const wanted = length(offset, bytes);
    window const from = subwindow(offset, wanted);
    nb::bytes const result = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, wanted));
    if (!result.is_valid())
        throw nb::python_error();
    auto* const to = reinterpret_cast<std::byte*>(PyBytes_AS_STRING(result.ptr()));
    {
        copy_without_gil const others_run(*this, wanted, read_with_gil);
        barmap::read({to, from.size}, from);
    }
    return result;
}

Py_ssize_t mapped_memory::read_into(nb::handle buffer, Py_ssize_t offset) {
    host_buffer const to(buffer, PyBUF_WRITABLE);
    expect_open();
    window const from = subwindow(offset, to.size());
    copy_without_gil const others_run(*this, to.size(), read_with_gil);
    barmap::read(to.bytes(), from);
    return to.size();
}

void mapped_memory::post(nb::handle value, Py_ssize_t offset, int size) {
    if (size != 1 && size != 2 && size != 4 && size != 8)
        throw nb::value_error("size must be 1, 2, 4 or 8");
    std::uint64_t const word = word_of(value, size);
    expect_open();
    expect_writable();
    window const to = subwindow(offset, size);
    if (reinterpret_cast<std::uintptr_t>(to.data) % static_cast<unsigned>(size) != 0)
        throw error(errc::invalid_argument,
                    "post " + std::to_string(size) + " bytes at offset " + std::to_string(offset),
                    backend_, "give an address that is a multiple of the size");
    switch (size) {
    case 1:
        return barmap::post(to, static_cast<std::uint8_t>(word));
    case 2:
        return barmap::post(to, static_cast<std::uint16_t>(word));
    case 4:
        return barmap::post(to, static_cast<std::uint32_t>(word));
    default:
        return barmap::post(to, word);
    }
}

void mapped_memory::fill(int byte, Py_ssize_t offset, std::optional<Py_ssize_t> bytes) {
    if (byte < 0 || byte > 255)
        throw nb::value_error("byte must be in 0..255");
    expect_open();
    expect_writable();
    Py_ssize_t const wanted = length(offset, bytes);
    window to = subwindow(offset, wanted);
    std::array<std::byte, 4096> pattern;
    pattern.fill(static_cast<std::byte>(byte));
    copy_without_gil const others_run(*this, wanted, written_with_gil);
    while (to.size != 0) {
        std::size_t const piece = std::min(to.size, pattern.size());
        barmap::write(to, {pattern.data(), piece});
        to = to.subwindow(piece);
    }
}

void mapped_memory::close() {
    if (closed())
        return;
    if (users_ != 0) {
        PyErr_SetString(PyExc_BufferError,
                        "a view of this mapping is alive, or a copy goes on: cannot close");
        throw nb::python_error();
    }
    std::shared_ptr<mapping const> gone = std::move(mapping_);
    pin pin_gone = std::exchange(pin_, {});
    released_gil const others_run;
    pin_gone = {};
    gone.reset();
}

int mapped_memory::event_fd() const {
    expect_open();
    if (pin_.size() == 0) // the library's own words are for C++
        throw error(errc::invalid_argument, "report when the GPU driver revokes memory",
                    backend_, "map the memory with events=True");
    return pin_.event_fd();
}

nb::object mapped_memory::next_event() const {
    expect_open();
    std::optional<pin_event> const event = pin_.next_event();
    if (!event)
        return nb::none();
    return nb::make_tuple(event->gpu_address, event->size, event->sequence, event->lost);
}

int mapped_memory::export_to(PyObject* self, Py_buffer* view, int flags) noexcept {
    try {
        expect_open();
    } catch (error const& failure) {
        view->obj = nullptr;
        set_python_error(failure);
        return -1;
    } catch (std::exception const& failure) {
        view->obj = nullptr;
        PyErr_SetString(PyExc_ValueError, failure.what());
        return -1;
    }
    int const done = PyBuffer_FillInfo(view, self, window_.data,
                                       static_cast<Py_ssize_t>(window_.size), read_only_, flags);
    if (done == 0)
        ++users_;
    return done;
}

namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
    if (!nb::inst_ready(self)) {
        view->obj = nullptr;
        PyErr_SetString(PyExc_ValueError, "this mapping was never made");
        return -1;
    }
    return nb::inst_ptr<mapped_memory>(self)->export_to(self, view, flags);
}

void release_buffer(PyObject* self, Py_buffer*) noexcept {
    nb::inst_ptr<mapped_memory>(self)->view_released();
}

PyType_Slot const slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
    {0, nullptr},
};

} // namespace

void bind_mapped_memory(nb::module_& module) {
    using self = mapped_memory;
    nb::class_<self>(module, "MappedMemory", nb::type_slots(slots))
        .def(nb::init<std::uintptr_t, std::size_t, std::string const&, bool, bool>(),
             nb::arg("address"), nb::arg("nbytes"), nb::arg("backend"), nb::arg("read_only"),
             nb::arg("events"))
        .def(nb::init<std::size_t, int, std::string const&>(), nb::arg("nbytes"), nb::kw_only(),
             nb::arg("device"), nb::arg("backend"))
        .def("write", &self::write, nb::arg("buf"), nb::arg("offset") = 0, docstrings::write)
        .def("read", &self::read, nb::arg("offset") = 0, nb::arg("n") = nb::none(),
             docstrings::read)
        .def("read_into", &self::read_into, nb::arg("buf"), nb::arg("offset") = 0,
             docstrings::read_into)
        .def("post", &self::post, nb::arg("value"), nb::arg("offset"), nb::arg("size") = 8,
             docstrings::post)
        .def("fill", &self::fill, nb::arg("byte"), nb::arg("offset") = 0, nb::arg("n") = nb::none(),
             docstrings::fill)
        .def("close", &self::close)
        .def("_event_fd", &self::event_fd)
        .def("_next_event", &self::next_event,
             nb::sig("def _next_event(self) -> tuple[int, int, int, int] | None"))
        .def_prop_ro("nbytes", &self::size)
        .def_prop_ro("gpu_address", &self::gpu_address)
        .def_prop_ro("backend", &self::backend)
        .def_prop_ro("device", &self::device)
        .def_prop_ro("kind", &self::kind)
        .def_prop_ro("readonly", &self::read_only)
        .def_prop_ro("closed", &self::closed);
}

} // namespace barmap::python
