// SPDX-License-Identifier: MIT
#pragma once

#include "address_map.hpp"
#include "entry.hpp"
#include "handle_table.hpp"
#include "settings.hpp"
#include "stream.hpp"
#include "suballocator.hpp"

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace barmap::sim {

/// A dma-buf descriptor that was handed out.
struct export_record {
    int fd = -1;
    std::uint64_t inode = 0;
    std::uint64_t bytes = 0;
};

/// A simulated GPU.
struct device {
    int ordinal = 0;
    std::uint64_t memory_size = 0;
    std::uint64_t memory_used = 0;
    std::uint64_t bar1_info = 0;
    bool bar1_limited = false;          ///< smaller than the memory: exports are counted
    std::vector<export_record> exports; ///< that may still be open
    CUuuid uuid{};
    std::string name;
    CUcontext primary = nullptr; ///< made at the first retain, and kept
    CUmemoryPool default_pool = nullptr;
    CUmemoryPool current_pool = nullptr;

    [[nodiscard]] unsigned bus() const noexcept { return unsigned(ordinal) + 1; }
    /// The resource manager's number for it: the PCI bus and device packed as RM does.
    [[nodiscard]] std::uint32_t gpu_id() const noexcept { return bus() << 8; }
};

/// Backing memory that small allocations of one context share.
struct shared_block {
    std::shared_ptr<physical> memory;
    std::shared_ptr<reservation> addresses;
    suballocator space;
};

struct context {
    CUcontext self = nullptr;
    sim::device* device = nullptr;
    bool alive = true;
    bool primary = false;
    unsigned retains = 0; ///< of a primary context
    unsigned flags = 0;
    std::shared_ptr<stream> null_stream;
    std::map<std::thread::id, CUstream> thread_streams; ///< each thread's own default stream
    std::vector<std::shared_ptr<shared_block>> arenas;
    std::set<CUcontext> peers; ///< enabled with cuCtxEnablePeerAccess
    completions departed;      ///< last work of destroyed streams
    /// It ends although work waits for a word that is never written: that work is dropped.
    std::shared_ptr<std::atomic<bool>> given_up = std::make_shared<std::atomic<bool>>(false);
};

/// A cuMemCreate handle; its references are counted as the driver counts them.
struct memory_handle {
    std::shared_ptr<physical> memory;
    CUmemAllocationProp properties{};
    CUmemGenericAllocationHandle self = 0;
    unsigned references = 1;
    unsigned mappings = 0;
};

struct pool {
    int ordinal = 0;
    int handle_types = 0;
    bool imported = false;
    bool is_default = false;
    std::set<int> granted; ///< other devices that may access its memory
    std::uint64_t used = 0, used_high = 0, release_threshold = 0;
    std::map<int, int> switches; ///< the CU_MEMPOOL_ATTR_REUSE_* values
    // From the first allocation on: addresses for all of the device's memory, and behind those that
    // are in use objects of block_bytes each; one only where other processes may import the pool.
    std::uint64_t block_bytes = 0;
    std::vector<std::shared_ptr<physical>> blocks;
    std::map<std::uint64_t, std::uint64_t> taken; ///< offsets and sizes of what is not returned yet
    std::shared_ptr<reservation> addresses;
    suballocator space;
};

struct external_memory {
    std::shared_ptr<physical> memory;
    std::uint64_t size = 0;
};

struct event {
    bool timed = true;
    std::shared_ptr<completion> recorded; ///< null before cuEventRecord
};

struct module {
    CUcontext owner = nullptr;
};

struct function {
    CUmodule owner = nullptr;
    struct kernel const* code = nullptr;
};

/// Everything there is. One per process, never destroyed; guarded by world_mutex().
struct world {
    problem trouble;         ///< what is wrong with the environment; nothing starts with it
    planned_failure failing; ///< the call that BARMAP_SIM_FAIL names
    unsigned char vulkan_driver[16];
    bool has_vulkan_driver = false; ///< vulkan_driver was given
    int driver_version = 13030;     ///< CUDA_VERSION of the simulated driver
    bool dma_buf_maps = true;       ///< a dma-buf descriptor can be mmapped (from R610 on)
    std::uint32_t client = 0;       ///< the resource manager client in this process's IPC handles
    std::uint32_t next_number = 1;
    std::vector<std::unique_ptr<device>> devices;
    std::map<std::uint32_t, physical*> objects; ///< by number
    address_map addresses;
    std::map<CUdeviceptr, std::shared_ptr<reservation>> reserved; ///< by cuMemAddressReserve
    handle_table<CUcontext, context> contexts{0x6100'0000'0000};
    handle_table<CUstream, stream> streams{0x6200'0000'0000};
    handle_table<CUevent, event> events{0x6300'0000'0000};
    handle_table<CUmodule, module> modules{0x6400'0000'0000};
    handle_table<CUfunction, function> functions{0x6500'0000'0000};
    handle_table<CUmemoryPool, pool> pools{0x6600'0000'0000};
    handle_table<CUexternalMemory, external_memory> externals{0x6700'0000'0000};
    handle_table<CUmemGenericAllocationHandle, memory_handle> handles{0x6800'0000'0000};

    std::condition_variable changed; ///< some work is done
    scheduler work;

    world();
    [[nodiscard]] device& get_device(CUdevice ordinal);
};

[[nodiscard]] world& the_world() noexcept;

/// The calling thread's context. Refuses with INVALID_CONTEXT or CONTEXT_IS_DESTROYED.
[[nodiscard]] context& current_context();
/// A context by handle, alive. Refuses with INVALID_CONTEXT or CONTEXT_IS_DESTROYED.
[[nodiscard]] context& live_context(CUcontext handle);

/// Whether a device's page tables have memory: peer access and access rights are what they were
/// set to.
[[nodiscard]] bool is_mapped(allocation const& one, int ordinal);
/// The same for the device of the calling thread's context; of any device where it has none.
[[nodiscard]] bool is_mapped_here(allocation const& one);

/// Waits until nothing that was submitted to the context before is still to be done.
void drain(context& of, world_lock& lock);
/// The same for a context that ends, where work that waits for a word is given up after a while.
void drain_or_give_up(context& of, world_lock& lock);
/// The same as drain() for a whole device: what freeing memory waits for.
void drain_device(int ordinal, world_lock& lock);

/// The context's allocations that freeing or destroying returns.
void release_memory(context& of);
/// From now on, nobody finds the allocation; its memory is returned when no work uses it.
void free_allocation(CUdeviceptr base);
/// The same as most calls free: waits until nothing that was submitted to the device before is
/// still to be done, and until no work uses the memory.
void free_and_wait(CUdeviceptr base, world_lock& lock);
void leave_pool(allocation const& freed);

/// The pool that a device's cuMemAllocAsync uses, made on demand.
[[nodiscard]] CUmemoryPool default_pool(device& of);

} // namespace barmap::sim
