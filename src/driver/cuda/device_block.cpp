// SPDX-License-Identifier: MIT
#include "driver/cuda/device_block.hpp"

#include "driver/cuda/context_scope.hpp"
#include "driver/cuda/driver_api.hpp"
#include "driver/cuda/driver_lifetime.hpp"
#include "driver/cuda/memory.hpp"

#include <barmap/error.hpp>

namespace barmap::cuda {

device_block::device_block(CUdevice device, std::size_t bytes) {
    context_scope const scope = context_scope::on_device(device);
    driver_api const& cu = api();
    check(cu.mem_alloc(&address_, bytes), "allocate GPU memory for the library");
    // Without these nobody could say later whether it is still there to be freed.
    CUresult status = cu.pointer_get_attribute(&id_, pointer_buffer_id, address_);
    if (status == success)
        status = cu.pointer_get_attribute(&owner_, pointer_context, address_);
    if (status != success)
        cu.mem_free(address_);
    check(status, "identify the library's GPU memory");
    watch_exit();
}

bool device_block::is_still_there() const noexcept {
    return allocation_id(address_) == id_;
}

device_block::~device_block() {
    if (!drivers_are_up(process_) || !is_still_there())
        return;
    driver_api const& cu = api();
    try {
        context_scope const scope(owner_);
        cu.mem_free(address_);
    } catch (error const&) {
        // The context is gone, and the memory with it.
    }
}

} // namespace barmap::cuda
