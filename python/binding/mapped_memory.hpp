// SPDX-License-Identifier: MIT
#pragma once

#include "element_runs.hpp"
#include "inheritable.hpp"

#include <barmap/mapping.hpp>
#include <barmap/pin.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace barmap::python {

/// A mapping as a Python object: bytes in and out, the buffer protocol, and a close() that refuses
/// as long as somebody uses the memory. Functions that take `self` are given the Python object of
/// this one. Those without noexcept throw nanobind::python_error, or error in a forked child that
/// cannot open the mapping.
///
/// Thread rule: the GIL protects the members. A copy that runs without the GIL counts as a user,
/// so that no other thread can close meanwhile.
class mapped_memory : public inheritable {
public:
    /// Imports memory of a GPU; of memory that barmap allocated, uses the mapping that there is.
    /// With events, the pin has them. Set-up happens without the GIL.
    mapped_memory(std::uintptr_t address, std::size_t bytes, std::string const& backend,
                  bool read_only, bool events);
    /// Memory of another process on a GPU, by its CUDA IPC handle of 64 bytes. Set-up happens
    /// without the GIL.
    mapped_memory(nanobind::bytes const& ipc_handle, std::size_t offset, std::size_t bytes,
                  int device, std::string const& backend);
    /// Memory that another process has shared. Set-up happens without the GIL, and without CUDA.
    mapped_memory(int descriptor, bool read_only);
    /// Allocates memory on a GPU. Set-up happens without the GIL.
    mapped_memory(std::size_t bytes, int device, std::string const& backend);
    ~mapped_memory();
    mapped_memory(mapped_memory const&) = delete;
    mapped_memory& operator=(mapped_memory const&) = delete;

    /// Sets the elements for the buffer protocol, and which bytes are copied in which order.
    /// Until then: all, as bytes.
    /// @param dtype  None: any elements may be written
    /// @param format as in PEP 3118; empty where that has none for the dtype
    /// @param offset bytes from the start of the mapping to the first element
    void set_elements(nanobind::object dtype, std::string format, Py_ssize_t itemsize,
                      Py_ssize_t offset, std::vector<Py_ssize_t> shape,
                      std::vector<Py_ssize_t> strides);

    // Offsets are those of the elements' bytes in C order.
    void write(nanobind::handle self, nanobind::handle buffer, Py_ssize_t offset);
    [[nodiscard]] nanobind::bytes read(Py_ssize_t offset, std::optional<Py_ssize_t> bytes);
    Py_ssize_t read_into(nanobind::handle self, nanobind::handle buffer, Py_ssize_t offset);
    void post(nanobind::handle value, Py_ssize_t offset, Py_ssize_t size);
    /// Repeats a pattern, of which offset and bytes are multiples.
    void fill(nanobind::bytes const& pattern, Py_ssize_t offset, Py_ssize_t bytes);
    /// Refuses while there are views or copies.
    void close();
    /// Refuses everything from now on, and unmaps when the last user has gone.
    void close_after_users();

    /// As pin::share(). Happens without the GIL.
    [[nodiscard]] int share();

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
    [[nodiscard]] bool closed() const noexcept { return closing_ || !mapping_; }

    /// The buffer protocol: the elements. view.obj stays null if it throws.
    void export_to(nanobind::handle self, Py_buffer& view, int flags);
    /// A memoryview of all mapped bytes, whatever the elements are.
    [[nodiscard]] nanobind::object bytes_view(nanobind::handle self);
    /// The same for code that uses gpu_address(). @throws error if this process has none
    [[nodiscard]] nanobind::object bytes_on_gpu(nanobind::handle self);
    /// A view was released.
    void view_gone() { user_gone(views_); }

private:
    class use_without_gil;
    struct shared_memory {
        pin pinned;
        std::shared_ptr<mapping const> mapped;
    };

    mapped_memory();
    void use(std::shared_ptr<mapping const> memory, std::uintptr_t start, std::uintptr_t address,
             std::size_t bytes);
    [[nodiscard]] static shared_memory opened(int descriptor);
    void use(shared_memory memory, std::size_t bytes);
    void leave_parents_users() noexcept;
    void user_gone(std::size_t& users);
    [[nodiscard]] bool is_used() const noexcept { return views_ + copies_ + shares_ != 0; }
    void expect_not_closed() const;
    /// Opens it, if a forked child has inherited it.
    void expect_open();
    void expect_events() const;
    void expect_writable() const;
    void expect_same_elements(nanobind::handle self, nanobind::handle buffer) const;
    /// Refuses to write to elements that share memory.
    void expect_apart() const;
    /// A part of the elements' bytes.
    struct range {
        std::size_t offset, bytes;
    };
    /// @pre bytes is not negative
    [[nodiscard]] range part(Py_ssize_t offset, Py_ssize_t bytes) const;
    /// To the end, unless bytes are given.
    [[nodiscard]] range part(Py_ssize_t offset, std::optional<Py_ssize_t> bytes) const;
    /// Calls a function with the window of each run of a part of the elements' bytes, in order.
    template <class Function>
    void for_each_run(range part, Function function) const;
    [[nodiscard]] std::size_t offset_of(window part) const noexcept; ///< in the mapping
    /// @pre to has as many bytes as the part
    void copy_to_cpu(std::byte* to, range part);
    void unmap();

    struct elements {
        nanobind::object dtype = nanobind::none();
        std::string format = "B";
        Py_ssize_t itemsize = 1;
        Py_ssize_t offset = 0;
        std::vector<Py_ssize_t> shape, strides;
    };

    pin pin_;                                ///< empty of memory that barmap allocated
    std::shared_ptr<mapping const> mapping_; ///< null once closed
    window window_;                          ///< what of it is this object's
    std::uintptr_t address_ = 0;
    int ordinal_ = 0;
    std::string backend_;
    cache_kind kind_ = cache_kind::write_combining;
    elements elements_;
    /// Where they lie, unless they are contiguous.
    std::optional<element_runs> runs_;
    bool read_only_ = false, has_events_ = false;
    bool closing_ = false;       ///< closed, except for those who still use it
    bool exports_bytes_ = false; ///< while bytes_view() makes one
    std::size_t views_ = 0, copies_ = 0, shares_ = 0; ///< those that there are now
};

/// Adds the class MappedMemory.
void bind_mapped_memory(nanobind::module_& module);

} // namespace barmap::python
