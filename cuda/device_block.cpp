// SPDX-License-Identifier: MIT
#include "cuda/device_block.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"
#include "cuda/memory.hpp"

#include <barmap/error.hpp>

namespace barmap::cuda {

namespace {

constexpr unsigned non_blocking = 1; // CU_STREAM_NON_BLOCKING: does not wait for other kernels

} // namespace

device_block::device_block(CUdevice device, std::size_t bytes, block_addresses wanted) {
    context_scope const scope = context_scope::on_device(device);
    driver_api const& cu = api();
    if (wanted == block_addresses::below_2_40) {
        allocate_low(device, bytes);
    } else {
        check(cu.mem_alloc(&allocated_, bytes), "allocate GPU memory for the library");
        address_ = allocated_;
    }
    // Without these, is_still_there() could not tell later whether it may be freed.
    CUresult status = cu.pointer_get_attribute(&id_, pointer_buffer_id, address_);
    if (status == success)
        status = cu.ctx_get_current(&owner_);
    if (status != success)
        cu.mem_free(allocated_);
    check(status, "identify the library's GPU memory");
    watch_exit();
}

// From the default pool, since each further one reserves addresses for all of the GPU's memory, and
// soon none are left below 2^40. Aligned, so that it lies in one of the pool's objects.
void device_block::allocate_low(CUdevice device, std::size_t bytes) {
    constexpr char what[] = "allocate GPU memory below 2^40 for the library";
    constexpr CUdeviceptr huge_page = 2u << 20;
    driver_api const& cu = api();
    CUstream stream = nullptr;
    CUmemoryPool pool = nullptr;
    check(cu.device_get_default_mem_pool(&pool, device), what);
    check(cu.stream_create(&stream, non_blocking), what);
    CUresult status = cu.mem_alloc_from_pool_async(&allocated_, bytes + huge_page, pool, stream);
    if (status == success)
        status = cu.stream_synchronize(stream);
    cu.stream_destroy(stream);
    address_ = (allocated_ + huge_page - 1) / huge_page * huge_page;
    bool const is_low = (address_ + bytes) >> 40 == 0;
    if (status == success && is_low)
        return;
    if (allocated_)
        cu.mem_free(allocated_);
    check(status, what);
    throw error(errc::backend_absent, what, "",
                "the default memory pool lies above 2^40: set BARMAP_ENGINE=driver, which does not "
                "need it");
}

void device_block::write(std::span<std::byte const> bytes) const {
    constexpr char what[] = "write the library's GPU memory";
    driver_api const& cu = api();
    context_scope const scope(owner_);
    CUstream stream = nullptr;
    check(cu.stream_create(&stream, non_blocking), what);
    CUresult status = cu.memcpy_htod_async(address_, bytes.data(), bytes.size(), stream);
    if (status == success)
        status = cu.stream_synchronize(stream);
    cu.stream_destroy(stream);
    check(status, what);
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
        cu.mem_free(allocated_);
    } catch (error const&) {
        // The context is gone, and the memory with it.
    }
}

} // namespace barmap::cuda
