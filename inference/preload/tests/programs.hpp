// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <cstddef>

/// The batches of programs that call CUDA's batch call, as their sources make them. docs/memcpy.md
/// names versions.
namespace barmap::memcpy_replays {

/// From host memory to the GPU's, back, inside a GPU, or to another one's.
enum class route { to_gpu, to_cpu, inside, to_peer };

struct pattern {
    char const* name; ///< of the program, and of what it copies
    route where;
    std::size_t count; ///< of pieces in a call
    std::size_t bytes; ///< of a piece
    bool is_taken;     ///< by libbarmap-memcpy
    CUmemcpyAttributes how = {1, {}, {}, 0};
    std::size_t calls = 1;            ///< behind one another in the stream
    bool by_stream_of_thread = false; ///< cudaStreamPerThread
};

inline constexpr CUmemcpyAttributes any_order{3, {}, {}, 0}, with_hints{1, {2, 0}, {1, 0}, 0},
    of_numa_node{1, {3, 0}, {}, 0}, overlapping{1, {}, {}, 1}; // 1: in the stream's order

inline constexpr std::size_t kib = 1024, mib = 1024 * kib;

inline constexpr pattern patterns[] = {
    {"ucx_put_32k", route::to_peer, 8192, 32 * kib, true},
    {"ucx_put_4k", route::to_peer, 40960, 4 * kib, true},
    {"ucx_put_few", route::to_peer, 31, 32 * kib, false},
    {"mooncake_all_layers", route::to_peer, 3904, 72 * kib, true},
    {"mooncake_layer", route::to_peer, 59, 72 * kib, true},
    {"vllm_simple_store_64k", route::to_cpu, 8192, 64 * kib, true},
    {"vllm_simple_load_64k", route::to_gpu, 8192, 64 * kib, true, any_order},
    {"vllm_simple_store_16k", route::to_cpu, 20480, 16 * kib, true},
    {"vllm_simple_load_16k", route::to_gpu, 20480, 16 * kib, true, any_order},
    {"vllm_simple_store_of_a_block", route::to_cpu, 32, 64 * kib, false},
    {"vllm_connector_store_32k", route::to_cpu, 8192, 32 * kib, true},
    {"vllm_connector_store_4k", route::to_cpu, 20480, 4 * kib, true},
    {"vllm_encoder_cache_load", route::to_gpu, 16, mib, false, any_order},
    {"vllm_hisparse_rows", route::to_cpu, 4096, 656, true},
    {"llmd_file_store_8k", route::to_cpu, 2048, 8 * kib, true, any_order},
    {"llmd_file_load_of_36", route::to_gpu, 36, 8 * kib, true, any_order},
    {"lmcache_store_32k", route::to_cpu, 1024, 32 * kib, true, {1, {}, {}, 0}, 16},
    {"lmcache_store_4k", route::to_cpu, 2560, 4 * kib, true, {1, {}, {}, 0}, 32},
    {"lmcache_store_of_thread_4k", route::to_cpu, 2560, 4 * kib, true, {1, {}, {}, 0}, 32, true},
    {"sglang_store_72k", route::to_cpu, 3904, 72 * kib, true, with_hints},
    {"sglang_load_64_of_72k", route::to_gpu, 64, 72 * kib, false, with_hints, 61},
    {"sglang_load_128_of_16k", route::to_gpu, 128, 16 * kib, true, with_hints, 32},
    {"nccl_gather_of_8", route::to_peer, 8, mib, false, overlapping},
    {"nccl_gather_of_72", route::to_peer, 72, 64 * kib, true, overlapping},
    {"dynamo_blocks_to_cpu", route::to_cpu, 64, 640 * kib, false},
    {"dynamo_blocks_inside", route::inside, 64, 640 * kib, true},
    {"sirius_spans", route::to_gpu, 1000, 5000, true, of_numa_node},
    {"rmm_copy", route::to_gpu, 1, 4 * kib, false, overlapping},
    {"rmm_copy_inside", route::inside, 1, 4 * kib, false, overlapping},
    {"lmdeploy_control_tensors", route::to_gpu, 5, 64, false, overlapping},
};

/// As many pieces as the library's choice depends on, for tests: it takes large pieces from 16 MiB
/// in all on.
[[nodiscard]] constexpr std::size_t count_in_tests(pattern const& of) noexcept {
    constexpr std::size_t most = 256, least_in_all = 16 * mib;
    std::size_t const needed =
        of.bytes >= 32 * kib ? (least_in_all + of.bytes - 1) / of.bytes : std::size_t{0};
    std::size_t const enough = needed > most ? needed : most;
    return of.count < enough ? of.count : enough;
}
[[nodiscard]] constexpr std::size_t calls_in_tests(pattern const& of) noexcept {
    return of.calls < 3 ? of.calls : 3;
}

} // namespace barmap::memcpy_replays
