// SPDX-License-Identifier: MIT
#pragma once

#include "rm/abi.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <sys/types.h>

/// The object table of the fake resource manager: clients, each with a tree
/// client > device > subdevice or memory, and the views that are mapped of its memory.
namespace barmap::fake::rm {

namespace abi = barmap::rm::abi;
using abi::handle;

// NV_STATUS values that only the driver's side uses. Source: nvstatuscodes.h.
inline constexpr std::uint32_t err_invalid_argument = 0x1f;
inline constexpr std::uint32_t err_invalid_class = 0x22;
inline constexpr std::uint32_t err_invalid_client = 0x23;
inline constexpr std::uint32_t err_invalid_command = 0x24;
inline constexpr std::uint32_t err_invalid_device = 0x26;
inline constexpr std::uint32_t err_invalid_limit = 0x2e;
inline constexpr std::uint32_t err_invalid_object_parent = 0x36;
inline constexpr std::uint32_t err_object_not_found = 0x57;

inline constexpr std::uint32_t class_memory = 0x40; ///< NV01_MEMORY_LOCAL_USER

/// A part of a file of the simulated GPU that is one memory object. Owns a descriptor of it, as a
/// reference of RM keeps the physical memory.
class memory_file {
public:
    /// @param fd borrowed; duplicated here
    memory_file(int fd, std::uint64_t offset, std::uint64_t size, int ordinal);
    memory_file(memory_file const&) = delete;
    memory_file& operator=(memory_file const&) = delete;
    ~memory_file();

    /// Some other memory of the same size: what a mapping reaches that goes wrong.
    [[nodiscard]] static std::shared_ptr<memory_file> elsewhere(std::uint64_t size, int ordinal);

    [[nodiscard]] int fd() const noexcept { return fd_; }
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] int ordinal() const noexcept { return ordinal_; }

private:
    int fd_;
    std::uint64_t offset_, size_;
    int ordinal_;
};

struct object {
    handle parent = 0;
    std::uint32_t object_class = 0;
    int ordinal = -1;                    ///< of the GPU; -1 for a client
    std::shared_ptr<memory_file> memory; ///< of a memory object
};

/// Part of a memory object that is mapped through BAR1.
struct view {
    handle memory = 0;
    int ordinal = -1;
    std::uint64_t length = 0;
    std::shared_ptr<bool> cpu_mapped; ///< true while the CPU has it mapped
};

struct client {
    std::map<handle, object> objects;    ///< without the client itself
    std::map<std::uint64_t, view> views; ///< by linear address
    [[nodiscard]] object const* find(handle which, std::uint32_t object_class) const;
    [[nodiscard]] bool has_children(handle which) const;
};

/// All clients of the driver. Guarded by the fake kernel's lock.
class object_table {
public:
    handle add_client();
    handle add(client& to, object added);
    [[nodiscard]] client* find_client(handle which);
    /// Frees the object, all below it, and their views.
    void free(handle client, handle which);

    [[nodiscard]] std::size_t size() const; ///< objects, clients included
    [[nodiscard]] std::size_t views() const;
    [[nodiscard]] std::uint64_t bar1_used(int ordinal) const;

private:
    std::map<handle, client> clients_;
    std::uint32_t next_client_ = 0xc1e00001, next_object_ = 0xcaf00001;
};

} // namespace barmap::fake::rm
