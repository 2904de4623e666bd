// SPDX-License-Identifier: MIT
#include "opened_memory.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"

#include <barmap/error.hpp>

namespace barmap::nixl {

opened_memory::opened_memory(CUipcMemHandle const& handle, int gpu)
    : owner_(os::this_process()), context_(cuda::primary_context::retain(cuda::device_with(gpu))) {
    constexpr unsigned enable_peer_access_where_needed = 1;
    cuda::context_scope const scope(context_.get());
    cuda::check(
        cuda::api().ipc_open_mem_handle(&address_, handle, enable_peer_access_where_needed),
        "open GPU memory of another agent's process",
        "the process must live, see the same GPUs, and be in the same PID and IPC namespaces");
    CUdeviceptr begin = 0;
    std::size_t bytes = 0;
    if (cuda::api().mem_get_address_range(&begin, &bytes, address_) == cuda::success)
        bytes_ = bytes - (address_ - begin);
    cuda::watch_exit();
}

opened_memory::~opened_memory() {
    if (!cuda::drivers_are_up(owner_))
        return;
    try {
        cuda::context_scope const scope(context_.get());
        cuda::api().ipc_close_mem_handle(address_);
    } catch (error const&) {
        // The context is gone, and what was opened in it.
    }
}

} // namespace barmap::nixl
