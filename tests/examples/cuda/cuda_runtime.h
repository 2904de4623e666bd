// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

/// The few functions of the CUDA runtime that the README and the examples use, over the driver
/// library that is loaded, so that these programs are tested without the CUDA toolkit.
/// The simulated GPU is such a driver library.
using cudaError_t = int;
inline constexpr cudaError_t cudaSuccess = 0;
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
using cudaStream_t = struct CUstream_st*;

namespace cuda_stand_in {

template <class Function>
Function* driver(char const* symbol) {
    static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    void* const address = library ? ::dlsym(library, symbol) : nullptr;
    if (!address) {
        std::fprintf(stderr, "libcuda.so.1 has no %s\n", symbol);
        std::abort();
    }
    return reinterpret_cast<Function*>(address);
}

/// Makes the primary context of GPU 0 current, as the runtime's first call does.
inline void enter() {
    static thread_local bool const entered = [] {
        void* context = nullptr;
        return driver<int(unsigned)>("cuInit")(0) == 0 &&
               driver<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0) == 0 &&
               driver<int(void*)>("cuCtxSetCurrent")(context) == 0;
    }();
    if (!entered)
        std::abort();
}

} // namespace cuda_stand_in

inline cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
    cuda_stand_in::enter();
    return cuda_stand_in::driver<int(void**, std::size_t)>("cuMemAlloc_v2")(memory, bytes);
}

inline cudaError_t cudaFree(void* memory) {
    cuda_stand_in::enter();
    return cuda_stand_in::driver<int(void*)>("cuMemFree_v2")(memory);
}

inline cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
    cuda_stand_in::enter();
    using copy = int(void*, void const*, std::size_t);
    return cuda_stand_in::driver<copy>(
        kind == cudaMemcpyHostToDevice ? "cuMemcpyHtoD_v2" : "cuMemcpyDtoH_v2")(to, from, bytes);
}

inline cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
    cuda_stand_in::enter();
    using copy = int(void*, void const*, std::size_t, cudaStream_t);
    return cuda_stand_in::driver<copy>(kind == cudaMemcpyHostToDevice
                                           ? "cuMemcpyHtoDAsync_v2"
                                           : "cuMemcpyDtoHAsync_v2")(to, from, bytes, stream);
}

inline cudaError_t cudaDeviceSynchronize() {
    cuda_stand_in::enter();
    return cuda_stand_in::driver<int()>("cuCtxSynchronize")();
}
