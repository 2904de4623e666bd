// SPDX-License-Identifier: MIT
// A program that copies batches by CUDA's runtime, for a machine with a GPU, by hand; it checks
// every byte. NVIDIA's runtime may be linked statically, which is nvcc's default, or shared:
//
//     nvcc -std=c++17 -o runtime_program runtime_program.cu      # and with -cudart shared
//     BARMAP_LOG=info barmap run -- ./runtime_program
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

void check(cudaError_t status, char const* what) {
    if (status == cudaSuccess)
        return;
    std::printf("%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

__global__ void add_one(unsigned char* bytes, std::size_t count) {
    std::size_t const i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (i < count)
        ++bytes[i];
}

constexpr std::size_t pieces = 4096, piece = 4096, size = pieces * piece;

/// Copies the pieces in another order than they lie in.
void copy(void* to, void const* from, cudaStream_t stream) {
    std::vector<void*> tos(pieces);
    std::vector<void const*> froms(pieces);
    std::vector<std::size_t> sizes(pieces, piece);
    for (std::size_t i = 0; i < pieces; ++i) {
        std::size_t const at = i * 5 % pieces * piece;
        tos[i] = static_cast<char*>(to) + at;
        froms[i] = static_cast<char const*>(from) + at;
    }
    cudaMemcpyAttributes order{};
    order.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
#if CUDART_VERSION >= 13000
    check(cudaMemcpyBatchAsync(tos.data(), froms.data(), sizes.data(), pieces, &order, &first, 1,
                               stream),
          "cudaMemcpyBatchAsync");
#else
    std::size_t failed = 0;
    check(cudaMemcpyBatchAsync(tos.data(), const_cast<void**>(froms.data()), sizes.data(), pieces,
                               &order, &first, 1, &failed, stream),
          "cudaMemcpyBatchAsync");
#endif
}

} // namespace

int main() {
    cudaStream_t stream;
    unsigned char *host, *back, *gpu;
    check(cudaStreamCreate(&stream), "cudaStreamCreate");
    check(cudaMallocHost(&host, size), "cudaMallocHost");
    check(cudaMallocHost(&back, size), "cudaMallocHost");
    check(cudaMalloc(&gpu, size), "cudaMalloc");
    for (int round = 0; round < 100; ++round) {
        for (std::size_t i = 0; i < size; ++i)
            host[i] = static_cast<unsigned char>(i * 7 + round);
        auto const begin = std::chrono::steady_clock::now();
        copy(gpu, host, stream);
        add_one<<<size / 256, 256, 0, stream>>>(gpu, size);
        copy(back, gpu, stream);
        check(cudaGetLastError(), "a kernel");
        std::chrono::duration<double, std::micro> const submitted =
            std::chrono::steady_clock::now() - begin;
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        std::chrono::duration<double, std::micro> const all =
            std::chrono::steady_clock::now() - begin;
        for (std::size_t i = 0; i < size; ++i)
            if (back[i] != static_cast<unsigned char>(i * 7 + round + 1)) {
                std::printf("round %d: byte %zu is wrong\n", round, i);
                return 1;
            }
        if (round % 33 == 0) // the first one is CUDA's own, while the engine starts
            std::printf("round %d: submitted after %.0f us, done after %.0f us\n", round,
                        submitted.count(), all.count());
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::printf("right\n");
}
