// SPDX-License-Identifier: MIT
#pragma once

#include "physical.hpp"

#include "nvidia/cuda.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace barmap::sim {

struct memory_handle;
struct pool;

/// A reserved range of device addresses. The CPU cannot dereference them; the simulated driver
/// sees the same memory through a second range, its view.
class reservation {
public:
    /// @param alignment a power of two, at least the page size
    reservation(std::uint64_t bytes, std::uint64_t alignment, CUdeviceptr wish = 0);
    reservation(reservation const&) = delete;
    reservation& operator=(reservation const&) = delete;
    ~reservation();

    /// Puts memory into the view, and takes it out again.
    void place(std::uint64_t at, physical const& memory, std::uint64_t offset,
               std::uint64_t bytes) const;
    void clear(std::uint64_t at, std::uint64_t bytes) const;
    /// Whether no memory is placed there.
    [[nodiscard]] bool is_clear(std::uint64_t at, std::uint64_t bytes) const;

    /// All of them. Guarded by the world's mutex.
    [[nodiscard]] static std::set<reservation const*>& all() noexcept;
    /// Puts memory that has moved to another file into the view, wherever it was.
    void place_again(physical const& memory) const;

    /// The views of all reservations: address and size. Guarded by the world's mutex.
    [[nodiscard]] static std::map<std::uint64_t, std::uint64_t>& views() noexcept;

    [[nodiscard]] CUdeviceptr base() const noexcept { return base_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] std::byte* view() const noexcept { return view_; }

private:
    struct part {
        physical const* memory;
        std::uint64_t offset, bytes;
    };
    CUdeviceptr base_ = 0;
    std::uint64_t size_ = 0;
    std::byte* view_ = nullptr;
    mutable std::map<std::uint64_t, part> parts_; ///< what is placed in the view, and where
};

enum class kind {
    device,     ///< cuMemAlloc
    chunk,      ///< cuMemMap
    pooled,     ///< cuMemAllocAsync
    managed,    ///< cuMemAllocManaged
    host,       ///< cuMemHostAlloc
    registered, ///< cuMemHostRegister
    ipc,        ///< cuIpcOpenMemHandle
    external,   ///< cuExternalMemoryGetMappedBuffer
};

/// A part of a physical object.
struct backing {
    physical* memory;
    std::uint64_t offset;     ///< in it
    std::uint64_t contiguous; ///< bytes from there on that belong to one allocation
};

/// Shared by an allocation and by the work that uses it. The last of them returns what was freed.
struct memory_use {
    memory_use() = default;
    memory_use(memory_use const&) = delete;
    memory_use& operator=(memory_use const&) = delete;
    ~memory_use() {
        if (at_end)
            at_end();
    }
    std::function<void()> at_end; ///< with the world's mutex held; empty: it is not freed
};

/// The memory at a range of addresses.
struct allocation {
    CUdeviceptr base = 0;
    std::uint64_t size = 0; ///< as asked for
    sim::kind kind = sim::kind::device;
    CUcontext context = nullptr;
    int ordinal = -1;
    std::uint64_t id = 0;             ///< CU_POINTER_ATTRIBUTE_BUFFER_ID
    std::byte* view = nullptr;        ///< where the simulated driver sees it
    std::shared_ptr<physical> memory; ///< null for host and managed memory; a pool's first block
    std::uint64_t offset = 0;         ///< inside `memory`; of a pool's, among its addresses
    std::shared_ptr<reservation> addresses; ///< null for host and managed memory
    CUmemoryPool pool = nullptr;
    std::shared_ptr<sim::pool> from_pool;
    std::shared_ptr<memory_handle> made_from; ///< of a chunk
    int handle_types = 0;                     ///< that it may be exported as
    bool rdma_capable = false;                ///< CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
    bool accessible = true;                   ///< false for a chunk before cuMemSetAccess
    std::set<int> granted;                    ///< the devices that may access a chunk
    bool sync_memops = false;                 ///< CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
    unsigned flags = 0;                       ///< of host memory
    bool leaving = false;                     ///< cuMemFreeAsync is on its way
    unsigned opens = 1;                       ///< of an IPC handle
    std::shared_ptr<memory_use> use;          ///< from address_map::add() on

    [[nodiscard]] bool on_device() const noexcept { return memory != nullptr; }
    /// The backing of a byte of device memory. @pre inside < size
    [[nodiscard]] backing backing_at(std::uint64_t inside) const;

    /// Device memory at [at, at + bytes) of a reservation, which has been placed there.
    [[nodiscard]] static allocation in(std::shared_ptr<reservation> addresses, std::uint64_t at,
                                       std::uint64_t bytes, sim::kind kind,
                                       std::shared_ptr<physical> memory, std::uint64_t offset);
};

/// All allocations of the process by address. Guarded by the world's mutex.
class address_map {
public:
    /// Gives the allocation its buffer id.
    allocation& add(allocation added);
    /// The one that contains the address, or null.
    [[nodiscard]] allocation* find(CUdeviceptr address);
    /// The one that starts there. Refuses with INVALID_VALUE.
    [[nodiscard]] allocation& at(CUdeviceptr base);
    /// From now on, nobody finds it. @return what was there
    allocation remove(CUdeviceptr base);

    /// Where the simulated driver sees [address, address + bytes), which may span several adjacent
    /// allocations in one reservation; null if no allocation contains `address`. Refuses with
    /// INVALID_VALUE where the range leaves them or may not be accessed. Until take_uses() or
    /// forget_uses(), which follow before the mutex is unlocked, what was found is in use.
    [[nodiscard]] std::byte* resolve(CUdeviceptr address, std::uint64_t bytes);

    using uses = std::vector<std::shared_ptr<void const>>;
    /// The memory that resolve() has found, for work that keeps it.
    [[nodiscard]] uses take_uses() { return std::exchange(found_, {}); }
    void forget_uses() { found_.clear(); }

    [[nodiscard]] std::map<CUdeviceptr, allocation>& all() noexcept { return allocations_; }

private:
    std::map<CUdeviceptr, allocation> allocations_;
    uses found_;
    std::uint64_t next_id_ = 1;
};

} // namespace barmap::sim
