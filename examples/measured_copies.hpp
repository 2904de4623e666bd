// SPDX-License-Identifier: MIT
// The common parts of all_to_all.cu, fetch_rows.cu and graph_of_copies.cu: calls of CUDA, and
// figures of several runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

[[noreturn]] inline void fail(char const* why) {
    std::fprintf(stderr, "%s\n", why);
    std::exit(1);
}

inline void check(cudaError_t result) {
    if (result != cudaSuccess)
        fail(cudaGetErrorString(result));
}

/// Memory that contains zeros.
template <class Value>
Value* gpu_memory(std::size_t count) {
    Value* result;
    check(cudaMalloc(&result, count * sizeof(Value)));
    check(cudaMemset(result, 0, count * sizeof(Value)));
    check(cudaDeviceSynchronize());
    return result;
}
template <class Value>
Value* pinned_host_memory(std::size_t count) {
    Value* result;
    check(cudaMallocHost(&result, count * sizeof(Value)));
    std::memset(result, 0, count * sizeof(Value));
    return result;
}

#if CUDART_VERSION >= 12080
constexpr bool has_batches = true;
#else
constexpr bool has_batches = false; // they came with CUDA 12.8
#endif

/// Copies pieces of equal length by one call of CUDA. @pre has_batches
inline void copy_in_one_call(std::vector<void*> const& to, std::vector<void*> const& from,
                             std::size_t bytes, cudaStream_t stream) {
#if CUDART_VERSION >= 12080
    auto *targets = const_cast<void**>(to.data()), *sources = const_cast<void**>(from.data());
    std::vector<std::size_t> lengths(to.size(), bytes);
    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0; // the attributes are those of all pieces
#if CUDART_VERSION >= 13000
    check(
        cudaMemcpyBatchAsync(targets, sources, lengths.data(), to.size(), &how, &first, 1, stream));
#else
    std::size_t failed = 0;
    check(cudaMemcpyBatchAsync(targets, sources, lengths.data(), to.size(), &how, &first, 1,
                               &failed, stream));
#endif
#else
    (void)to, (void)from, (void)bytes, (void)stream;
    std::abort();
#endif
}

/// One figure of each run.
struct figures {
    std::vector<double> of_runs;

    [[nodiscard]] double median() const {
        auto sorted = of_runs;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }
    [[nodiscard]] double least() const { return *std::min_element(of_runs.begin(), of_runs.end()); }
    [[nodiscard]] double greatest() const {
        return *std::max_element(of_runs.begin(), of_runs.end());
    }
    /// Greatest less least, in per cent of the median.
    [[nodiscard]] double spread() const { return 100 * (greatest() - least()) / median(); }
};
