// SPDX-License-Identifier: MIT
// The buffer protocol of a mapping.
#include "errors.hpp"
#include "mapped_memory.hpp"

#include <barmap/error.hpp>

namespace nb = nanobind;

namespace barmap::python {

void mapped_memory::export_to(nb::handle self, Py_buffer& view, int flags) {
    auto const wanted = [flags](int what) { return (flags & what) == what; };
    expect_open();
    if (wanted(PyBUF_WRITABLE) && read_only_)
        raise(PyExc_BufferError, "this mapping is read-only");
    view = {};
    view.readonly = read_only_;
    if (exports_bytes_) {
        if (PyBuffer_FillInfo(&view, self.ptr(), window_.data,
                              static_cast<Py_ssize_t>(window_.size), read_only_, flags) != 0)
            throw nb::python_error();
        ++views_;
        return;
    }
    view.buf = window_.data + elements_.offset;
    view.itemsize = elements_.itemsize;
    view.len = elements_.itemsize;
    for (Py_ssize_t const length : elements_.shape)
        view.len *= length;
    view.ndim = static_cast<int>(elements_.shape.size());
    view.shape = elements_.shape.data();
    view.strides = elements_.strides.data();
    if (((!wanted(PyBUF_STRIDES) || wanted(PyBUF_C_CONTIGUOUS)) &&
         !PyBuffer_IsContiguous(&view, 'C')) ||
        (wanted(PyBUF_F_CONTIGUOUS) && !PyBuffer_IsContiguous(&view, 'F')) ||
        (wanted(PyBUF_ANY_CONTIGUOUS) && !PyBuffer_IsContiguous(&view, 'A')))
        raise(PyExc_BufferError, "the mapped array is not contiguous: use numpy()");
    if (wanted(PyBUF_FORMAT)) {
        if (elements_.format.empty())
            raise(PyExc_BufferError, "buffers have no elements of %S: use numpy()",
                  elements_.dtype.ptr());
        view.format = elements_.format.data();
    }
    if (!wanted(PyBUF_STRIDES))
        view.strides = nullptr;
    if (!wanted(PyBUF_ND)) {
        view.shape = nullptr;
        view.ndim = 1;
    }
    view.obj = self.inc_ref().ptr();
    ++views_;
}

nb::object mapped_memory::bytes_view(nb::handle self) {
    exports_bytes_ = true;
    PyObject* const view = PyMemoryView_FromObject(self.ptr());
    exports_bytes_ = false;
    if (!view)
        throw nb::python_error();
    return nb::steal(view);
}

nb::object mapped_memory::bytes_on_gpu(nb::handle self) {
    constexpr char what[] = "use the GPU address of a mapping";
    expect_not_closed();
    if (is_inherited())
        throw error(errc::forked_child, what, backend_,
                    "use it in the process that made it: CUDA does not work in a forked child");
    if (address_ == 0)
        throw error(errc::unsupported_operation, what, backend_,
                    "use it in the process that allocated the memory: this one has no address of it");
    return bytes_view(self);
}

} // namespace barmap::python
