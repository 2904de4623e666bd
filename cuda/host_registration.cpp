// SPDX-License-Identifier: MIT
#include "cuda/host_registration.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"

#include <barmap/error.hpp>

#include <cstring>
#include <string>

namespace barmap::cuda {

namespace {

std::string advice_on(CUresult result, char const* if_unsupported) {
    switch (result) {
    case error_host_already_registered:
        return "part of it is already registered with CUDA: register all of it, or none";
    case error_not_supported:
        return std::string("this system lets CUDA pin no memory that was allocated without it: ") +
               if_unsupported;
    case error_out_of_memory:
    case error_unknown:
        return "the process may not lock that much memory: see ulimit -l, or ask for less";
    default:
        return "";
    }
}

constexpr unsigned portable = 1; // CU_MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTALLOC_PORTABLE

CUdeviceptr gpu_address_of(primary_context const& context, void* data) {
    context_scope const scope(context.get());
    CUdeviceptr result = 0;
    check(api().mem_host_get_device_pointer(&result, data, 0),
          "find the GPU's address of host memory");
    return result;
}

/// Gives host memory back in its context, unless CUDA may be unloaded.
template <class Free>
void give_back(primary_context const& context, os::process_id owner, Free free) noexcept {
    if (!drivers_are_up(owner))
        return;
    try {
        context_scope const scope(context.get());
        free();
    } catch (error const&) {
        // The context is gone, and what it had of the memory with it.
    }
}

} // namespace

host_registration::host_registration(CUdevice device, std::span<std::byte> memory,
                                     char const* if_unsupported)
    : context_(primary_context::retain(device)), data_(memory.data()) {
    context_scope const scope(context_.get());
    CUresult const result = api().mem_host_register(data_, memory.size(), portable);
    check(result, "let the GPU reach host memory", advice_on(result, if_unsupported));
    watch_exit();
}

CUdeviceptr host_registration::gpu_address() const {
    return gpu_address_of(context_, data_);
}

host_registration::~host_registration() {
    give_back(context_, owner_, [this] { api().mem_host_unregister(data_); });
}

host_allocation::host_allocation(CUdevice device, std::size_t bytes)
    : context_(primary_context::retain(device)) {
    context_scope const scope(context_.get());
    check(api().mem_host_alloc(&data_, bytes, portable), "allocate pinned host memory",
          "ask for less, or free some");
    std::memset(data_, 0, bytes);
    watch_exit();
}

CUdeviceptr host_allocation::gpu_address() const {
    return gpu_address_of(context_, data_);
}

host_allocation::~host_allocation() {
    give_back(context_, owner_, [this] { api().mem_free_host(data_); });
}

} // namespace barmap::cuda
