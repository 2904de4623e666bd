// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/mapping.hpp>
#include <barmap/pin.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace barmap::python {

/// A mapping as a Python object: bytes in and out, the buffer protocol, and a close() that refuses
/// as long as somebody uses the memory.
///
/// Thread rule: the GIL protects the members. A copy that goes on without the GIL counts as a user,
/// so that no other thread can close meanwhile.
class mapped_memory {
public:
    /// Adopts memory of a GPU; of memory that barmap allocated, uses the mapping that there is.
    /// With events, pins it anew, with events. Set-up happens without the GIL.
    mapped_memory(std::uintptr_t address, std::size_t bytes, std::string const& backend,
                  bool read_only, bool events);
    /// Allocates memory on a GPU. Set-up happens without the GIL.
    mapped_memory(std::size_t bytes, int device, std::string const& backend);
    ~mapped_memory();
    mapped_memory(mapped_memory const&) = delete;
    mapped_memory& operator=(mapped_memory const&) = delete;

    void write(nanobind::handle buffer, Py_ssize_t offset);
    [[nodiscard]] nanobind::bytes read(Py_ssize_t offset, std::optional<Py_ssize_t> bytes);
    Py_ssize_t read_into(nanobind::handle buffer, Py_ssize_t offset);
    void post(nanobind::handle value, Py_ssize_t offset, int size);
    void fill(int byte, Py_ssize_t offset, std::optional<Py_ssize_t> bytes);
    void close();

    /// As those of pin; of a mapping without events, error errc::invalid_argument.
    [[nodiscard]] int event_fd() const;
    /// @return None, or address, bytes, sequence and lost of a pin_event
    [[nodiscard]] nanobind::object next_event() const;

    [[nodiscard]] std::size_t size() const noexcept { return window_.size; }
    [[nodiscard]] std::uintptr_t gpu_address() const noexcept { return address_; }
    [[nodiscard]] std::string const& backend() const noexcept { return backend_; }
    [[nodiscard]] int device() const noexcept { return ordinal_; }
    [[nodiscard]] std::string_view kind() const noexcept { return to_string(kind_); }
    [[nodiscard]] bool read_only() const noexcept { return read_only_; }
    [[nodiscard]] bool closed() const noexcept { return !mapping_; }

    /// The buffer protocol: bytes. @return what Py_bf_getbuffer returns, with the exception set
    int export_to(PyObject* self, Py_buffer* view, int flags) noexcept;
    void view_released() noexcept { --users_; }

private:
    class copy_without_gil;

    void use(std::shared_ptr<mapping const> memory, std::uintptr_t start, std::uintptr_t address,
             std::size_t bytes);
    void expect_open() const;
    void expect_writable() const;
    /// Bytes from offset to the end, unless they are given.
    [[nodiscard]] Py_ssize_t length(Py_ssize_t offset, std::optional<Py_ssize_t> bytes) const {
        return bytes ? *bytes : static_cast<Py_ssize_t>(window_.size) - offset;
    }
    [[nodiscard]] window subwindow(Py_ssize_t offset, Py_ssize_t bytes) const;

    pin pin_;                                ///< empty if without events
    std::shared_ptr<mapping const> mapping_; ///< null once closed
    window window_;                          ///< what of it is this object's
    std::uintptr_t address_ = 0;
    int ordinal_ = 0;
    std::string backend_;
    cache_kind kind_ = cache_kind::write_combining;
    bool read_only_ = false;
    std::size_t users_ = 0;        ///< exported views, and copies that go on without the GIL
    unsigned fork_generation_ = 0; ///< of the process that made it
};

/// Adds the class MappedMemory.
void bind_mapped_memory(nanobind::module_& module);

} // namespace barmap::python
