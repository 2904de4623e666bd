// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/barmap.h>
#include <barmap/export.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// The page of GPUDirect RDMA, in bytes.
inline constexpr std::size_t gpu_page_size = 64 * 1024;

/// Size of the GPU's BAR1, the aperture through which the CPU sees GPU memory, in bytes.
/// 0 if unknown.
struct bar1_info {
    std::uint64_t total = 0;
    std::uint64_t available = 0;
};

/// How the CPU caches a mapping. Decides which fences a copy needs.
enum class cache_kind {
    write_combining = BARMAP_WRITE_COMBINING, ///< stores are collected and posted; loads go to the GPU every time
    cached = BARMAP_CACHED,                   ///< coherent memory (integrated and C2C-attached GPUs, the simulated GPU)
    uncached = BARMAP_UNCACHED,               ///< ordered; slow (device memory, on arm64)
};

/// The kind of memory behind a GPU address, which decides which backends can map it.
enum class memory_kind {
    device = BARMAP_MEMORY_DEVICE, ///< cudaMalloc, cuMemAlloc
    virtual_exportable = BARMAP_MEMORY_VIRTUAL_EXPORTABLE, ///< cuMemCreate + cuMemMap with a POSIX-fd handle type
    virtual_opaque = BARMAP_MEMORY_VIRTUAL_OPAQUE, ///< the same without an exportable handle type
    pool = BARMAP_MEMORY_POOL, ///< cudaMallocAsync from a pool without handle types (the default pool)
    pool_exportable = BARMAP_MEMORY_POOL_EXPORTABLE, ///< cudaMallocAsync from a pool with POSIX-fd handles
    graph = BARMAP_MEMORY_GRAPH, ///< a memory node of a CUDA graph: each launch may put other memory at its
                        ///< address, so pin it after the launch, and unpin it before the next
    allocated = BARMAP_MEMORY_ALLOCATED, ///< device::allocate
    imported = BARMAP_MEMORY_IMPORTED, ///< opened with cuIpcOpenMemHandle or cuExternalMemoryGetMappedBuffer, or
                        ///< pinned by an ipc_handle
    managed = BARMAP_MEMORY_MANAGED, ///< cudaMallocManaged
    host = BARMAP_MEMORY_HOST, ///< pinned or registered host memory
    unknown = BARMAP_MEMORY_UNKNOWN, ///< no live CUDA allocation is there
};

/// How to pin. The defaults suit every program but those that follow gdrcopy's rules.
struct pin_options {
    std::string backend = {}; ///< name of the backend to use; empty: the first that can
    /// Widens the range to whole pages of gpu_page_size bytes, which may hold other memory of the
    /// process. The range may then also start or end outside of the allocation.
    bool whole_pages = false;
    /// Maps through BAR1 even where the CPU also has a coherent link to the GPU. NVIDIA's driver
    /// allows that up to R590; later ones make it errc::unsupported_operation.
    bool force_pcie = false;
    /// Makes pin::event_fd() and pin::next_event() report when the GPU driver revokes the memory.
    /// Only barmap's gdrdrv in callback mode can (backend_report::events). The pin then holds a
    /// descriptor.
    bool events = false;
    std::uint64_t p2p_token = 0; ///< passed to a gdrdrv older than 2.5; otherwise ignored
    std::uint32_t va_space = 0;  ///< the same
};

/// Names cudaMalloc memory to other processes of the machine: the 64 bytes that cudaIpcGetMemHandle
/// or cuIpcGetMemHandle returns in the process that owns the memory. A cudaIpcMemHandle_t and a
/// CUipcMemHandle convert to it.
struct ipc_handle {
    std::array<std::byte, 64> bytes{};

    ipc_handle() = default;
    /// Both have that member, as HIP's has, and as handles of events have, which name no memory.
    template <class Handle>
    requires(sizeof(Handle) == 64 && sizeof(Handle::reserved) == 64 &&
             std::is_trivially_copyable_v<Handle>)
        ipc_handle(Handle const& handle)
    noexcept : bytes(std::bit_cast<std::array<std::byte, 64>>(handle)) {}
};

/// The GPU driver has revoked memory of a pin: it was freed, or its context ended.
struct pin_event {
    std::uintptr_t gpu_address = 0; ///< of the part of the pin that is gone
    std::size_t size = 0;           ///< bytes of it
    std::uint64_t sequence = 0;     ///< counts the pin's events from 1, lost ones included
    /// If not 0: that many events were lost by a queue overflow, and the range is the whole pin's.
    std::uint64_t lost = 0;
};

/// Which way a copy goes.
enum class copy_direction {
    to_gpu = BARMAP_TO_GPU, ///< from host to GPU memory
    to_cpu = BARMAP_TO_CPU, ///< from GPU to host memory
};

/// The host's side of a copy.
enum class host_memory_kind {
    pageable, ///< ordinary memory
    pinned,   ///< allocated or registered with CUDA (cudaMallocHost, cudaHostRegister)
};

/// One contiguous part of a batch: CUDA's addresses, with any alignment. Each side is memory that
/// CUDA has mapped for the queue's GPU, except managed memory: the GPU's own, another GPU's with
/// peer access (cudaDeviceEnablePeerAccess), memory of other processes that CUDA has opened, or
/// host memory that it has pinned (cudaMallocHost, cudaHostRegister). The two sides must not
/// overlap.
struct copy_piece {
    std::uintptr_t to = 0;
    std::uintptr_t from = 0;
    std::size_t bytes = 0; ///< 0: nothing is copied
};

[[nodiscard]] constexpr std::string_view to_string(cache_kind kind) noexcept {
    switch (kind) {
    case cache_kind::write_combining:
        return "write-combining";
    case cache_kind::cached:
        return "cached";
    case cache_kind::uncached:
        return "uncached";
    }
    return "unknown";
}

[[nodiscard]] constexpr std::string_view to_string(memory_kind kind) noexcept {
    switch (kind) {
    case memory_kind::device:
        return "cudaMalloc memory";
    case memory_kind::virtual_exportable:
        return "VMM memory with a POSIX-fd handle type";
    case memory_kind::virtual_opaque:
        return "VMM memory without an exportable handle type";
    case memory_kind::pool:
        return "cudaMallocAsync memory of a pool without handle types";
    case memory_kind::pool_exportable:
        return "cudaMallocAsync memory of a pool with POSIX-fd handles";
    case memory_kind::graph:
        return "memory of a CUDA graph's node";
    case memory_kind::allocated:
        return "memory that barmap allocated";
    case memory_kind::imported:
        return "memory imported into CUDA from another process or API";
    case memory_kind::managed:
        return "managed memory";
    case memory_kind::host:
        return "host memory";
    case memory_kind::unknown:
        return "an address that CUDA does not know";
    }
    return "unknown";
}

[[nodiscard]] constexpr std::string_view to_string(copy_direction direction) noexcept {
    return direction == copy_direction::to_gpu ? "to the GPU" : "to the CPU";
}

[[nodiscard]] constexpr std::string_view to_string(host_memory_kind kind) noexcept {
    return kind == host_memory_kind::pageable ? "pageable" : "pinned";
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
