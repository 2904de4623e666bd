// SPDX-License-Identifier: MIT
#include "backend/scratch.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"

namespace barmap::backend {
/// cudaMalloc memory in whatever context was current. Freed only if it is still the same
/// allocation: the user may have destroyed the context and its memory in the meantime.
class scratch::cuda_block {
public:
    explicit cuda_block(CUdevice device) {
        cuda::context_scope const scope = cuda::context_scope::on_device(device);
        cuda::driver_api const& cu = cuda::api();
        cuda::check(cu.mem_alloc(&address_, size), "allocate memory for the self-test");
        // Without these nobody could say later whether it is still there to be freed.
        CUresult status = cu.pointer_get_attribute(&id_, cuda::pointer_buffer_id, address_);
        if (status == cuda::success)
            status = cu.pointer_get_attribute(&owner_, cuda::pointer_context, address_);
        if (status != cuda::success)
            cu.mem_free(address_);
        cuda::check(status, "identify the memory for the self-test");
        cuda::watch_exit();
    }
    cuda_block(cuda_block const&) = delete;
    cuda_block& operator=(cuda_block const&) = delete;
    ~cuda_block() {
        if (!cuda::drivers_are_up(process_))
            return;
        cuda::driver_api const& cu = cuda::api();
        unsigned long long id_now = 0;
        if (cu.pointer_get_attribute(&id_now, cuda::pointer_buffer_id, address_) != cuda::success ||
            id_now != id_)
            return;
        try {
            cuda::context_scope const scope(owner_);
            cu.mem_free(address_);
        } catch (error const&) {
            // The context is gone, and the memory with it.
        }
    }
    [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }

private:
    os::process_id process_ = os::this_process();
    CUcontext owner_ = nullptr;
    CUdeviceptr address_ = 0;
    unsigned long long id_ = 0;
};

scratch::scratch(backend& backend, gpu const& gpu) : device_(gpu.handle) {
    if (backend.capabilities().can_register(memory_kind::device)) {
        block_ = std::make_unique<cuda_block>(gpu.handle);
        address_ = block_->address();
        pinned_ = backend.pin(cuda::describe(address_, size));
    } else {
        pinned_ = backend.allocate(size);
        address_ = pinned_->allocated_address();
    }
    mapped_ = pinned_->map();
}

scratch::~scratch() = default; // here, where cuda_block is known

} // namespace barmap::backend
