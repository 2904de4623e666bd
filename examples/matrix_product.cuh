// SPDX-License-Identifier: MIT
// A matrix product that keeps all multiprocessors of a GPU busy, for all_to_all.cu.
#pragma once

#include "measured_copies.hpp"

#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <mma.h>

namespace products {

constexpr unsigned size = 8192, tile = 128, step = 32, threads = 256;

/// Of row i and column k, and of row k and column j: numbers that depend on both.
__host__ __device__ inline unsigned factor(unsigned one, unsigned other) {
    return (one + other) % 4;
}
__global__ void fill(half* left, half* right) {
    for (unsigned i = blockIdx.x; i < size; i += gridDim.x)
        for (unsigned k = threadIdx.x; k < size; k += blockDim.x)
            left[i * size + k] = right[i * size + k] = __uint2half_rn(factor(i, k));
}

/// Counts the wrong elements. The numbers are small enough for an exact sum.
__global__ void compare(float const* product, unsigned* wrong) {
    unsigned mine = 0;
    for (unsigned i = blockIdx.x; i < size; i += gridDim.x)
        for (unsigned j = threadIdx.x; j < size; j += blockDim.x) {
            unsigned sum = 0;
            for (unsigned k = 0; k < 4; ++k)
                sum += factor(i, k) * factor(k, j) * (size / 4);
            mine += product[i * size + j] != static_cast<float>(sum);
        }
    if (mine != 0)
        atomicAdd(wrong, mine);
}

/// Tiles of the factors. The padding puts rows into different banks of the shared memory.
struct tiles {
    half left[tile][step + 8];
    half right[step][tile + 8];
};
__device__ inline void load(tiles& to, half const* left, half const* right, unsigned k) {
    constexpr unsigned at_once = 8; // numbers of 16 bytes
    for (unsigned i = threadIdx.x; i < tile * step / at_once; i += threads) {
        unsigned const row = i / (step / at_once), column = i % (step / at_once) * at_once;
        __pipeline_memcpy_async(&to.left[row][column],
                                left + (blockIdx.y * tile + row) * size + k + column, 16);
    }
    for (unsigned i = threadIdx.x; i < tile * step / at_once; i += threads) {
        unsigned const row = i / (tile / at_once), column = i % (tile / at_once) * at_once;
        __pipeline_memcpy_async(&to.right[row][column],
                                right + (k + row) * size + blockIdx.x * tile + column, 16);
    }
}

/// On tensor cores. A block makes a tile, a warp 32 x 64 of its elements. Two blocks fit on a
/// multiprocessor, which then has registers left for small blocks of other kernels.
__global__ void __launch_bounds__(threads, 2)
    multiply(half const* left, half const* right, float* product) {
    namespace wmma = nvcuda::wmma;
    constexpr unsigned side = 16, rows = 2, columns = 4; // fragments of a warp
    __shared__ __align__(128) tiles both[2];
    unsigned const warp = threadIdx.x / 32;
    unsigned const row = warp / 2 * rows * side, column = warp % 2 * columns * side;
    wmma::fragment<wmma::accumulator, side, side, side, float> sums[rows][columns];
    for (auto& of_row : sums)
        for (auto& sum : of_row)
            wmma::fill_fragment(sum, 0.0F);
    load(both[0], left, right, 0);
    __pipeline_commit();
    for (unsigned k = 0; k < size; k += step) {
        if (k + step < size)
            load(both[(k / step + 1) % 2], left, right, k + step);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads(); // all parts of this tile are there
        tiles const& now = both[k / step % 2];
#pragma unroll
        for (unsigned at = 0; at < step; at += side) {
            wmma::fragment<wmma::matrix_a, side, side, side, half, wmma::row_major> from_left[rows];
#pragma unroll
            for (unsigned i = 0; i < rows; ++i)
                wmma::load_matrix_sync(from_left[i], &now.left[row + i * side][at], step + 8);
#pragma unroll
            for (unsigned j = 0; j < columns; ++j) {
                wmma::fragment<wmma::matrix_b, side, side, side, half, wmma::row_major> from_right;
                wmma::load_matrix_sync(from_right, &now.right[at][column + j * side], tile + 8);
#pragma unroll
                for (unsigned i = 0; i < rows; ++i)
                    wmma::mma_sync(sums[i][j], from_left[i], from_right, sums[i][j]);
            }
        }
        __syncthreads(); // all have read this tile, which the next load overwrites
    }
    float* const to = product + (blockIdx.y * tile + row) * size + blockIdx.x * tile + column;
#pragma unroll
    for (unsigned i = 0; i < rows; ++i)
#pragma unroll
        for (unsigned j = 0; j < columns; ++j)
            wmma::store_matrix_sync(to + i * side * size + j * side, sums[i][j], size,
                                    wmma::mem_row_major);
}

} // namespace products

/// Multiplies on one GPU, again and again, in a stream of low priority.
class matrix_product {
public:
    explicit matrix_product(int gpu) : gpu_(gpu) {
        check(cudaSetDevice(gpu));
        left_ = gpu_memory<half>(elements);
        right_ = gpu_memory<half>(elements);
        product_ = gpu_memory<float>(elements);
        wrong_ = gpu_memory<unsigned>(1);
        int least, greatest;
        check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
        check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, least));
        check(cudaEventCreate(&begun_));
        check(cudaEventCreate(&ended_));
        products::fill<<<products::size, products::threads, 0, stream_>>>(left_, right_);
        check(cudaGetLastError());
        start();
        (void)milliseconds();
        expect_right();
    }

    void start() const {
        check(cudaSetDevice(gpu_));
        check(cudaEventRecord(begun_, stream_));
        constexpr unsigned side = products::size / products::tile;
        for (int i = 0; i < times; ++i)
            products::multiply<<<dim3(side, side), products::threads, 0, stream_>>>(left_, right_,
                                                                                    product_);
        check(cudaGetLastError());
        check(cudaEventRecord(ended_, stream_));
    }
    [[nodiscard]] bool is_running() const {
        cudaError_t const result = cudaEventQuery(ended_);
        if (result != cudaErrorNotReady)
            check(result);
        (void)cudaGetLastError(); // it is "not ready"
        return result == cudaErrorNotReady;
    }
    /// Waits until it has ended, and tells how long it took.
    [[nodiscard]] float milliseconds() const {
        check(cudaEventSynchronize(ended_));
        float result = 0;
        check(cudaEventElapsedTime(&result, begun_, ended_));
        return result;
    }
    void expect_right() const {
        check(cudaSetDevice(gpu_));
        products::compare<<<products::size, products::threads, 0, stream_>>>(product_, wrong_);
        check(cudaGetLastError());
        unsigned wrong = 1;
        check(cudaMemcpyAsync(&wrong, wrong_, sizeof wrong, cudaMemcpyDeviceToHost, stream_));
        check(cudaStreamSynchronize(stream_));
        if (wrong != 0)
            fail("a matrix product is wrong");
    }

    static constexpr double operations = 2.0 * products::size * products::size * products::size;
    static constexpr int times = 20; ///< products of a start

private:
    static constexpr std::size_t elements = std::size_t(products::size) * products::size;
    int gpu_;
    cudaStream_t stream_;
    cudaEvent_t begun_, ended_;
    half *left_, *right_;
    float* product_;
    unsigned* wrong_;
};
