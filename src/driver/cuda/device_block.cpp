// SPDX-License-Identifier: MIT
#include "driver/cuda/device_block.hpp"

#include "driver/cuda/context_scope.hpp"
#include "driver/cuda/driver_api.hpp"
#include "driver/cuda/driver_lifetime.hpp"
#include "driver/cuda/memory.hpp"

#include <barmap/error.hpp>

namespace barmap::cuda {

device_block::device_block(CUdevice device, std::size_t bytes, block_addresses wanted) {
    context_scope const scope = context_scope::on_device(device);
    driver_api const& cu = api();
    if (wanted == block_addresses::below_2_40)
        allocate_low(device, bytes);
    else
        check(cu.mem_alloc(&address_, bytes), "allocate GPU memory for the library");
    // Without these nobody could say later whether it is still there to be freed.
    CUresult status = cu.pointer_get_attribute(&id_, pointer_buffer_id, address_);
    if (status == success)
        status = cu.ctx_get_current(&owner_);
    if (status != success)
        free();
    check(status, "identify the library's GPU memory");
    watch_exit();
}

void device_block::allocate_low(CUdevice device, std::size_t bytes) {
    constexpr char what[] = "allocate GPU memory below 2^40 for the library";
    driver_api const& cu = api();
    CUmemPoolProps properties{};
    properties.allocType = allocation_type_pinned;
    properties.location = {location_type_device, device};
    constexpr unsigned non_blocking = 1; // waits for nobody's kernels
    CUstream stream = nullptr;
    check(cu.stream_create(&stream, non_blocking), what);
    CUresult status = cu.mem_pool_create(&pool_, &properties);
    if (status == success)
        status = cu.mem_alloc_from_pool_async(&address_, bytes, pool_, stream);
    if (status == success)
        status = cu.stream_synchronize(stream);
    cu.stream_destroy(stream);
    bool const is_low = status == success && address_ >> 40 == 0;
    if (is_low)
        return;
    free();
    check(status, what);
    throw error(errc::backend_absent, what, "",
                "this driver puts a pool's memory elsewhere: BARMAP_ENGINE=driver needs none");
}

void device_block::free() const noexcept {
    driver_api const& cu = api();
    if (address_)
        cu.mem_free(address_);
    if (pool_)
        cu.mem_pool_destroy(pool_);
}

bool device_block::is_still_there() const noexcept {
    return allocation_id(address_) == id_;
}

device_block::~device_block() {
    if (!drivers_are_up(process_) || !is_still_there())
        return;
    try {
        context_scope const scope(owner_);
        free();
    } catch (error const&) {
        // The context is gone, and the memory with it.
    }
}

} // namespace barmap::cuda
