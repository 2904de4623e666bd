// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/channel.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace barmap::fake::gpu {
class memory;
class address_space;
class channel;
} // namespace barmap::fake::gpu

/// The object table of the fake resource manager: clients, each with a tree
/// client > device > subdevice, memory or channel group, what is mapped of its memory for the CPU
/// and what is for the GPU.
namespace barmap::fake::rm {

namespace abi = barmap::rm::abi;
using abi::handle;

// NV_STATUS values that only the driver's side uses. Source: nvstatuscodes.h.
inline constexpr std::uint32_t err_insert_duplicate_name = 0x19;
inline constexpr std::uint32_t err_busy = 0x3; // NV_ERR_BUSY_RETRY
inline constexpr std::uint32_t err_invalid_address = 0x1e;
inline constexpr std::uint32_t err_invalid_argument = 0x1f;
inline constexpr std::uint32_t err_invalid_class = 0x22;
inline constexpr std::uint32_t err_invalid_client = 0x23;
inline constexpr std::uint32_t err_invalid_command = 0x24;
inline constexpr std::uint32_t err_invalid_device = 0x26;
inline constexpr std::uint32_t err_invalid_limit = 0x2e;
inline constexpr std::uint32_t err_invalid_object_parent = 0x36;
inline constexpr std::uint32_t err_invalid_state = 0x40;
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
    [[nodiscard]] static std::shared_ptr<memory_file> elsewhere(std::uint64_t size, int ordinal) {
        return fresh("some other GPU memory", size, ordinal);
    }
    /// Memory that nobody has, zeroed.
    [[nodiscard]] static std::shared_ptr<memory_file> fresh(char const* name, std::uint64_t size,
                                                            int ordinal);

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
    int ordinal = -1;                            ///< of the GPU; -1 for a client
    std::shared_ptr<memory_file> memory;         ///< of what the CPU can map
    std::vector<handle> uses{};                  ///< the objects that it needs as long as it lives
    std::uint32_t engine_type = 0;               ///< of a channel group
    std::shared_ptr<gpu::memory> reached{};      ///< of memory that the GPU reaches
    std::shared_ptr<gpu::address_space> space{}; ///< of an address space and what is in it
    std::shared_ptr<gpu::channel> channel{};     ///< of a channel
};

/// Part of a memory object that is mapped through BAR1.
struct view {
    handle memory = 0;
    int ordinal = -1;
    std::uint64_t length = 0;
    std::shared_ptr<bool> cpu_mapped; ///< true while the CPU has it mapped
};

/// Part of a memory object that is mapped for the GPU, as long as this lives.
struct dma_view {
    handle memory = 0;
    std::shared_ptr<gpu::address_space> space;
    std::uint64_t address = 0;

    dma_view(handle memory, std::shared_ptr<gpu::address_space> space, std::uint64_t address)
        : memory(memory), space(std::move(space)), address(address) {}
    dma_view(dma_view const&) = delete;
    dma_view& operator=(dma_view const&) = delete;
    ~dma_view();
};

struct client {
    std::map<handle, object> objects;                               ///< without the client itself
    std::map<std::uint64_t, view> views;                            ///< by linear address
    std::map<std::pair<handle, std::uint64_t>, dma_view> dma_views; ///< by DMA object and address
    [[nodiscard]] object const* find(handle which, std::uint32_t object_class) const;
    [[nodiscard]] bool has_children(handle which) const;
    /// Whether it is the other object, or somewhere below it.
    [[nodiscard]] bool is_below(handle which, handle root) const;
    /// Whether another object, or a mapping for the GPU, needs it or what is below it.
    [[nodiscard]] bool is_used(handle which) const;

private:
    void add_tree(handle root, std::set<handle>& to) const;
};

/// A command's parameters, whose size has been compared with the driver's own.
template <class Parameters>
[[nodiscard]] Parameters* parameters_of(abi::control_parameters const& request) {
    return reinterpret_cast<Parameters*>(request.parameters);
}

/// All clients of the driver. Guarded by the fake kernel's lock.
class object_table {
public:
    handle add_client();
    handle add(client& to, object added);
    [[nodiscard]] client* find_client(handle which);
    /// The same under a handle of the caller's choice. @return false if it is in use
    bool add(client& to, handle name, object added);
    /// Frees the object, all below it, and their views.
    void free(handle client, handle which);

    [[nodiscard]] std::size_t size() const;  ///< objects, clients included
    [[nodiscard]] std::size_t views() const; ///< for the CPU and for the GPU
    [[nodiscard]] std::uint64_t bar1_used(int ordinal) const;

private:
    std::map<handle, client> clients_;
    std::uint32_t next_client_ = 0xc1e00001, next_object_ = 0xcaf00001;
};

} // namespace barmap::fake::rm
