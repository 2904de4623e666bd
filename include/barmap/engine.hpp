// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/backend.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

/// Which way a copy goes.
enum class copy_direction {
    to_gpu, ///< from host to GPU memory
    to_cpu, ///< from GPU to host memory
};

/// Below this size no engine is ever faster than loads and stores, so that none is asked, or
/// started: an engine takes 3.5 us at least, in which 3 KiB are read and 64 KiB written (H200).
[[nodiscard]] constexpr std::size_t least_for_engines(copy_direction direction) noexcept {
    return direction == copy_direction::to_cpu ? 1024 : 32768;
}

/// The host's side of a copy.
enum class host_memory_kind {
    pageable, ///< ordinary memory
    pinned,   ///< that CUDA has allocated or registered (cudaMallocHost, cudaHostRegister)
};

/// One copy engine: something that copies between host and GPU memory by itself.
struct engine_report {
    std::string name;
    backend_state state = backend_state::absent; ///< as of a backend
    std::string reason;                          ///< one sentence: why it is in this state
    std::string advice;                          ///< what to do to make it usable; empty when it is
    double start_us = 0;      ///< time that its start-up and self-test took, microseconds
    std::uint64_t copies = 0; ///< that it has done in this process
    std::uint64_t bytes = 0;  ///< of them
    unsigned failures = 0;    ///< copies that it did not end in time; after three it stays off
};

/// From which size on mapping::copy_to_gpu() and copy_to_cpu() take which method.
struct copy_crossover {
    copy_direction direction = copy_direction::to_gpu;
    host_memory_kind host = host_memory_kind::pageable;
    std::size_t from_bytes = 0; ///< up to the next one's
    std::string method;         ///< "mapping": loads and stores; else the engine's name
};

[[nodiscard]] BARMAP_API std::string_view to_string(copy_direction direction) noexcept;
[[nodiscard]] BARMAP_API std::string_view to_string(host_memory_kind kind) noexcept;

/// Names of all copy engines of this build, in order of preference: the values of BARMAP_ENGINE,
/// beside "auto" and "none".
[[nodiscard]] BARMAP_API std::vector<std::string> engine_names();

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
