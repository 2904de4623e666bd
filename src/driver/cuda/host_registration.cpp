// SPDX-License-Identifier: MIT
#include "driver/cuda/host_registration.hpp"

#include "driver/cuda/driver_api.hpp"
#include "driver/cuda/driver_lifetime.hpp"

#include <barmap/error.hpp>

namespace barmap::cuda {

host_registration::host_registration(CUdevice device, std::span<std::byte> memory)
    : context_(primary_context::retain(device)), data_(memory.data()) {
    constexpr unsigned portable = 1;
    context_scope const scope(context_.get());
    CUresult const result = api().mem_host_register(data_, memory.size(), portable);
    check(result, "let the GPU reach host memory",
          result == error_host_already_registered
              ? "part of it is already registered with CUDA: register all of it, or none"
              : "the process may not lock that much memory: see ulimit -l, or ask for less");
    watch_exit();
}

CUdeviceptr host_registration::gpu_address() const {
    context_scope const scope(context_.get());
    CUdeviceptr result = 0;
    check(api().mem_host_get_device_pointer(&result, data_, 0),
          "find the GPU's address of host memory");
    return result;
}

host_registration::~host_registration() {
    if (!drivers_are_up(owner_))
        return;
    try {
        context_scope const scope(context_.get());
        api().mem_host_unregister(data_);
    } catch (error const&) {
        // The context is gone, and the registration with it.
    }
}

} // namespace barmap::cuda
