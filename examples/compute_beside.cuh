// SPDX-License-Identifier: MIT
// A kernel that keeps multiprocessors busy, and how long it takes while others work on the rest of
// the GPU: for fetch_rows.cu.
#pragma once

#include "measured_copies.hpp"

constexpr unsigned compute_threads = 1024;

/// Work for any number of multiprocessors, always the same: arithmetic, or reads of GPU memory.
__global__ void __launch_bounds__(compute_threads)
    compute(bool reads, float4 const* numbers, unsigned tiles_of_numbers, float* result) {
    constexpr unsigned tiles = 400'000, loads = 4, rounds = 256;
    float4 sum = {float(threadIdx.x), 1, 2, 3};
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        float4 const* const from =
            numbers + tile % tiles_of_numbers * loads * compute_threads + threadIdx.x;
#pragma unroll
        for (unsigned i = 0; i < loads && reads; ++i) {
            float4 const each = from[i * compute_threads];
            sum = {sum.x + each.x, sum.y + each.y, sum.z + each.z, sum.w + each.w};
        }
        for (unsigned i = 0; i < rounds && !reads; ++i)
            sum = {sum.x * 0.9F + 1, sum.y * 0.9F + 1, sum.z * 0.9F + 1, sum.w * 0.9F + 1};
    }
    if (sum.x + sum.y + sum.z + sum.w == -1) // never, which the compiler does not know
        *result = sum.x;
}

/// Measures compute().
class compute_beside {
public:
    compute_beside() {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        check(cudaEventCreate(&begun_));
        check(cudaEventCreate(&ended_));
        check(cudaDeviceGetAttribute(&shared_, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
        check(cudaFuncSetAttribute(compute, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_));
        (void)milliseconds(100, false, [] {}); // loads it
    }

    /// @param blocks how many multiprocessors it uses, and nothing else does: each block has all
    ///               shared memory of one
    /// @param work   called again and again until compute() has ended; may launch kernels
    template <class Work>
    float milliseconds(unsigned blocks, bool reads, Work const& work) {
        check(cudaEventRecord(begun_, stream_));
        compute<<<blocks, compute_threads, shared_, stream_>>>(reads, numbers_, tiles, result_);
        check(cudaGetLastError());
        check(cudaEventRecord(ended_, stream_));
        while (cudaEventQuery(ended_) == cudaErrorNotReady) {
            (void)cudaGetLastError(); // it is "not ready"
            work();
            check(cudaGetLastError());
        }
        check(cudaEventSynchronize(ended_));
        float result = 0;
        check(cudaEventElapsedTime(&result, begun_, ended_));
        return result;
    }

private:
    static constexpr unsigned tiles = 8192; ///< of 64 KiB: more than a cache has
    cudaStream_t stream_;
    cudaEvent_t begun_, ended_;
    int shared_;
    float4* numbers_ = gpu_memory<float4>(std::size_t(tiles) * 4 * compute_threads);
    float* result_ = gpu_memory<float>(1);
};
