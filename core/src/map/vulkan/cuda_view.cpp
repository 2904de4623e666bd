// SPDX-License-Identifier: MIT
#include "map/vulkan/cuda_view.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"
#include "map/vulkan/memory_reference.hpp"

namespace barmap::backend::vulkan {

cuda_view::cuda_view(CUdevice device) : owner_(os::this_process()) {
    cuda::driver_api const& cu = cuda::api();
    CUcontext before = nullptr;
    cuda::check(cu.ctx_get_current(&before), "read the thread's CUDA context");
    cuda::context_scope const scope = cuda::context_scope::on_device(device);
    cuda::check(cu.ctx_get_current(&context_), "read the thread's CUDA context");
    if (context_ != before)
        primary_ = std::make_unique<cuda::primary_context>(cuda::primary_context::retain(device));
}

// Delegating makes the object whole first, so that its destructor undoes an import that is half
// done.
cuda_view::cuda_view(CUdevice device, int descriptor, std::size_t payload, std::size_t bytes)
    : cuda_view(device) {
    cuda::driver_api const& cu = cuda::api();
    cuda::context_scope const scope(context_);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC source{};
    source.type = cuda::external_handle_opaque_fd;
    source.size = payload;
    CUresult const imported = hand_over(descriptor, [&](int copy) {
        source.handle.fd = copy;
        return cu.import_external_memory(&memory_, &source);
    });
    if (imported != cuda::success)
        memory_ = nullptr;
    cuda::check(imported, "import Vulkan's memory into CUDA",
                "Vulkan and CUDA must be of one driver version and show the same GPU: compare "
                "vulkaninfo and nvidia-smi");
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC range{};
    range.size = bytes;
    cuda::check(cu.external_memory_get_mapped_buffer(&address_, memory_, &range),
                "give Vulkan's memory a CUDA address",
                "free GPU memory or address space of this context");
    unsigned long long id = 0;
    if (cu.pointer_get_attribute(&id, cuda::pointer_buffer_id, address_) == cuda::success)
        id_ = id;
}

cuda_view::~cuda_view() {
    if (!cuda::drivers_are_up(owner_)) {
        static_cast<void>(primary_.release()); // its destructor would call the driver
        return;
    }
    if (!still_there())
        return;
    try {
        cuda::driver_api const& cu = cuda::api();
        cuda::context_scope const scope(context_);
        if (address_)
            cu.mem_free(address_);
        if (memory_)
            cu.destroy_external_memory(memory_);
    } catch (error const&) {
        // The context is gone, and the import with it.
    }
}

// The user may have destroyed the context, and another allocation may lie at the address now.
bool cuda_view::still_there() const noexcept {
    unsigned long long now = 0;
    return !address_ || !id_ ||
           (cuda::api().pointer_get_attribute(&now, cuda::pointer_buffer_id, address_) ==
                cuda::success &&
            now == id_);
}

} // namespace barmap::backend::vulkan
