// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/export.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

/// Whether a backend works here.
enum class backend_state {
    usable, ///< its self-test moved a random value both ways
    absent, ///< this machine does not offer it; normal
    broken, ///< it is offered, but its start or self-test failed; never used
};

/// How the CPU caches a mapping. Decides which fences a copy needs.
enum class cache_kind {
    write_combining, ///< stores are collected and posted; loads go to the GPU every time
    cached,          ///< coherent memory (integrated and C2C-attached GPUs, the simulated GPU)
    uncached,        ///< ordered; slow (device memory, on arm64)
};

/// What a GPU address points into, as far as mapping is concerned.
enum class memory_kind {
    device,             ///< cudaMalloc, cuMemAlloc
    virtual_exportable, ///< cuMemCreate + cuMemMap with a POSIX-fd handle type
    virtual_opaque,     ///< the same without an exportable handle type
    pool,               ///< cudaMallocAsync from a pool without handle types (the default pool)
    pool_exportable,    ///< cudaMallocAsync from a pool with POSIX-fd handles
    allocated,          ///< device::allocate
    imported,           ///< cuIpcOpenMemHandle or cuExternalMemoryGetMappedBuffer: not CUDA's own
    managed,            ///< cudaMallocManaged
    host,               ///< pinned or registered host memory
    unknown,            ///< no live CUDA allocation is there
};

/// Version of a kernel module.
struct module_version {
    int major = 0;
    int minor = 0;
};

/// Properties of a backend that has started.
struct backend_properties {
    /// Of its kernel module, if it needs one that reports a version.
    std::optional<module_version> module = std::nullopt;
    bool persistent = true;  ///< mappings outlive cudaFree; false: see pin::revoked()
    bool forces_pcie = true; ///< takes pin_options::force_pcie
    bool events = false;     ///< takes pin_options::events
    bool allocates = false;  ///< device::allocate may use it, once it is usable
};

/// One line of `barmap info`.
struct backend_report : backend_properties {
    std::string name;
    backend_state state = backend_state::absent;
    std::string reason;  ///< one sentence: why it is in this state
    std::string advice;  ///< what to do to make it usable; empty when it is
    double start_us = 0; ///< time that its start-up and self-test took, microseconds
};

[[nodiscard]] BARMAP_API std::string_view to_string(backend_state state) noexcept;
[[nodiscard]] BARMAP_API std::string_view to_string(cache_kind kind) noexcept;
[[nodiscard]] BARMAP_API std::string_view to_string(memory_kind kind) noexcept;

/// Names of all backends that this build knows, in the order in which they are tried.
/// These are the values of BARMAP_BACKEND.
[[nodiscard]] BARMAP_API std::vector<std::string> backend_names();

/// One CPU copy routine that this build has.
struct copy_routine_report {
    std::string name;
    bool supported = false; ///< the CPU and the operating system have what it needs
    std::string needs;      ///< the instruction sets it needs
};

/// All copy routines of this build. These are the values of BARMAP_COPY.
[[nodiscard]] BARMAP_API std::vector<copy_routine_report> copy_routines();

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
