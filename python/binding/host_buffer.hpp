// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>

namespace barmap::python {

/// An argument from which a host_buffer is made. Type checkers see that it must be a buffer.
class buffer : public nanobind::handle {
public:
    using handle::handle;
    buffer(nanobind::handle object) noexcept : handle(object) {}
    static constexpr auto Name = nanobind::detail::const_name("Buffer");
};

/// A contiguous buffer of another Python object, held until this goes.
/// @pre the GIL is held
class host_buffer {
public:
    /// @throws nanobind::python_error if the object gives no such buffer
    host_buffer(nanobind::handle object, int flags) {
        if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0)
            throw nanobind::python_error();
    }
    ~host_buffer() { PyBuffer_Release(&view_); }
    host_buffer(host_buffer const&) = delete;
    host_buffer& operator=(host_buffer const&) = delete;

    [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(view_.buf); }
    [[nodiscard]] Py_ssize_t size() const noexcept { return view_.len; }
    /// As of the module struct; null for bytes, or where the flags do not ask for it.
    [[nodiscard]] char const* format() const noexcept { return view_.format; }
    [[nodiscard]] std::span<std::byte> bytes() const noexcept {
        return {data(), static_cast<std::size_t>(size())};
    }

private:
    Py_buffer view_;
};

} // namespace barmap::python
