// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/report.h>

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

/// The few calls of the CUDA driver that these examples make, found at run time, so that building
/// and running them takes no CUDA toolkit. A program that is built with one calls the functions of
/// the CUDA runtime that stand beside them. It is barmap's own driver, so that BARMAP_SIM=1 is
/// enough for the simulated GPU (sim/README.md).
class cuda_driver {
public:
    /// Makes the primary context of a GPU current, as the runtime's first call does.
    explicit cuda_driver(int ordinal) {
        void* context = nullptr;
        check("cuInit", function<int(unsigned)>("cuInit")(0));
        check("cuDevicePrimaryCtxRetain",
              function<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, ordinal));
        check("cuCtxSetCurrent", function<int(void*)>("cuCtxSetCurrent")(context));
    }

    /// cudaMalloc(&result, bytes)
    [[nodiscard]] std::uintptr_t allocate(std::size_t bytes) const {
        unsigned long long address = 0;
        using allocate = int(unsigned long long*, std::size_t);
        check("cuMemAlloc", function<allocate>("cuMemAlloc_v2")(&address, bytes));
        return address;
    }

    /// cudaFree(address)
    void free(std::uintptr_t address) const {
        check("cuMemFree", function<int(unsigned long long)>("cuMemFree_v2")(address));
    }

    /// cudaStreamCreate(&result)
    [[nodiscard]] void* make_stream() const {
        void* stream = nullptr;
        check("cuStreamCreate", function<int(void**, unsigned)>("cuStreamCreate")(&stream, 0));
        return stream;
    }

    /// cudaStreamDestroy(stream)
    void destroy_stream(void* stream) const {
        check("cuStreamDestroy", function<int(void*)>("cuStreamDestroy_v2")(stream));
    }

    /// cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost)
    void copy_to_cpu(void* to, std::uintptr_t from, std::size_t bytes) const {
        using copy = int(void*, unsigned long long, std::size_t);
        check("cuMemcpyDtoH", function<copy>("cuMemcpyDtoH_v2")(to, from, bytes));
    }

    /// cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice)
    void copy_to_gpu(std::uintptr_t to, void const* from, std::size_t bytes) const {
        using copy = int(unsigned long long, void const*, std::size_t);
        check("cuMemcpyHtoD", function<copy>("cuMemcpyHtoD_v2")(to, from, bytes));
    }

    /// cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice): returns before the copy is done.
    void start_copy_to_gpu(std::uintptr_t to, void const* from, std::size_t bytes) const {
        using copy = int(unsigned long long, void const*, std::size_t, void*);
        check("cuMemcpyHtoDAsync",
              function<copy>("cuMemcpyHtoDAsync_v2")(to, from, bytes, nullptr));
    }

    /// cudaDeviceSynchronize()
    void wait() const { check("cuCtxSynchronize", function<int()>("cuCtxSynchronize")()); }

private:
    template <class Function>
    static Function* function(char const* name) {
        barmap_driver driver{};
        driver.size = sizeof driver;
        if (barmap_driver_load(&driver) != BARMAP_OK)
            throw std::runtime_error(barmap_error_message());
        void* const found = driver.library ? ::dlsym(driver.library, name) : nullptr;
        if (!found)
            throw std::runtime_error(std::string("there is no ") + name + ": " + driver.problem);
        return reinterpret_cast<Function*>(found);
    }

    static void check(char const* call, int result) {
        if (result == 0)
            return;
        char const* text = nullptr;
        function<int(int, char const**)>("cuGetErrorString")(result, &text);
        throw std::runtime_error(std::string(call) + ": " + (text ? text : "unknown error") + " (" +
                                 std::to_string(result) + ")");
    }
};
