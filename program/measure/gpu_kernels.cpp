// SPDX-License-Identifier: MIT
#include "measure/gpu_kernels.hpp"

#include "kernels/gpu_kernels.ptx.hpp"
#include "output/timing.hpp"
#include "command/exit_codes.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace barmap::tool {

gpu_kernels::gpu_kernels() : gpu_kernels(ptx::gpu_kernels) {}

gpu_kernels::gpu_kernels(char const* image) {
    if (!image)
        throw error(errc::unsupported_operation, "load the GPU kernels of this command", "",
                    "this build of barmap lacks them: install clang (14 or newer) or CUDA's nvcc, "
                    "and build barmap again");
    cuda::check(cuda::api().module_load_data(&module_, image), "load the GPU kernels of barmap",
                "they are PTX 6.4 for sm_70: the driver needs its PTX compiler "
                "(libnvidia-ptxjitcompiler.so.1) and the GPU compute capability 7.0");
}

gpu_kernels::~gpu_kernels() {
    cuda::api().module_unload(module_);
}

CUfunction gpu_kernels::named(char const* name) const {
    CUfunction function = nullptr;
    cuda::check(cuda::api().module_get_function(&function, module_, name),
                std::string("find the GPU kernel ") + name);
    return function;
}

void launch(CUfunction function, unsigned blocks, unsigned threads, CUstream stream,
            kernel_parameters parameters) {
    cuda::check(cuda::api().launch_kernel(function, blocks, 1, 1, threads, 1, 1, 0, stream,
                                          parameters.addresses(), nullptr),
                "launch a GPU kernel");
}

pinned_host::pinned_host(std::size_t bytes) {
    cuda::driver_api const& cu = cuda::api();
    void* pointer = nullptr;
    cuda::check(cu.mem_host_alloc(&pointer, bytes, 0), "allocate pinned host memory");
    data_ = static_cast<std::byte*>(pointer);
    std::memset(data_, 0, bytes);
    CUresult const found = cu.mem_host_get_device_pointer(&address_, pointer, 0);
    if (found != cuda::success) {
        cu.mem_free_host(pointer);
        cuda::check(found, "find the GPU address of pinned host memory");
    }
}

pinned_host::~pinned_host() {
    cuda::api().mem_free_host(data_);
}

running_kernel::running_kernel(CUfunction function, unsigned blocks, unsigned threads,
                               std::function<void(CUstream)> stop,
                               kernel_parameters const& parameters)
    : stop_(std::move(stop)) {
    launch(function, blocks, threads, stream_.get(), parameters);
}

running_kernel::~running_kernel() {
    constexpr double patience_s = 5;
    auto const runs = [&] {
        return cuda::api().stream_query(stream_.get()) == cuda::error_not_ready;
    };
    if (!runs())
        return;
    stop_(control_.get());
    clock::time_point const begin = clock::now();
    while (runs()) {
        if (seconds_since(begin) > patience_s) {
            std::fputs("barmap: a GPU kernel does not end, giving up\n", stderr);
            std::_Exit(exit_timed_out);
        }
        std::this_thread::yield();
    }
}

bool running_kernel::finished() const {
    CUresult const result = cuda::api().stream_query(stream_.get());
    if (result == cuda::error_not_ready)
        return false;
    cuda::check(result, "run a GPU kernel");
    return true;
}

void running_kernel::wait(double limit_s) const {
    clock::time_point const begin = clock::now();
    while (!finished()) {
        if (seconds_since(begin) > limit_s)
            throw gpu_timeout("a GPU kernel did not end in time");
        std::this_thread::yield();
    }
}

void fill_by_kernel(gpu_kernels const& kernels, CUdeviceptr address, std::size_t bytes,
                    std::uint64_t seed) {
    constexpr unsigned blocks = 256, threads = 256;
    launch(kernels.named("barmap_fill"), blocks, threads, nullptr,
           {address, std::uint64_t{bytes}, seed});
    cuda::check(cuda::api().ctx_synchronize(), "run a GPU kernel");
}

} // namespace barmap::tool
