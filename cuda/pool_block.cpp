// SPDX-License-Identifier: MIT
#include "cuda/pool_block.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"

namespace barmap::cuda {

// Delegating makes the object whole first, so that its destructor undoes what is half done.
pool_block::pool_block(CUdevice device, std::size_t bytes, bool exportable) : pool_block() {
    constexpr char what[] = "allocate memory from a pool";
    driver_api const& cu = api();
    watch_exit();
    constexpr unsigned non_blocking = 1; // does not wait for other kernels
    check(cu.stream_create(&stream_, non_blocking), what);
    CUmemPoolProps properties{};
    properties.allocType = allocation_type_pinned;
    properties.handleTypes = exportable ? handle_type_posix_fd : handle_type_none;
    properties.location = {location_type_device, device};
    check(cu.mem_pool_create(&pool_, &properties), what);
    for (CUdeviceptr& each : pieces_)
        check(cu.mem_alloc_from_pool_async(&each, bytes, pool_, stream_), what);
    check(cu.stream_synchronize(stream_), what);
}

pool_block::~pool_block() {
    if (!stream_ || !drivers_are_up(owner_))
        return;
    driver_api const& cu = api();
    cu.ctx_synchronize(); // for copies in other streams, which this order does not wait for
    for (CUdeviceptr const each : pieces_)
        if (each)
            cu.mem_free_async(each, stream_);
    cu.stream_synchronize(stream_);
    if (pool_)
        cu.mem_pool_destroy(pool_);
    cu.stream_destroy(stream_);
}

} // namespace barmap::cuda
