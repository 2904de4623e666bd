// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/selected_gpu.hpp"

#include "gdrcopy/programs/gdrapi_library.hpp"
#include "gdrcopy/programs/programs.hpp"

#include <array>

namespace barmap::tool::gdrcopy {
namespace {

CUdevice open(int ordinal) {
    CUdevice handle = 0;
    cuda::check(cuda::api().device_get(&handle, ordinal), formatted("open GPU {}", ordinal),
                "`barmap info` lists the GPUs");
    return handle;
}

gpu_memory allocate(selected_gpu const& gpu, std::string const& function, std::size_t bytes) {
    // Whole GPU pages, since these are pinned, and room to find the first.
    if (function == "cuMemAlloc")
        return gpu_memory::device(round_up(bytes, GPU_PAGE_SIZE) + GPU_PAGE_SIZE - 1);
    // Exportable for barmap's backends, and ready for RDMA for gdrdrv.
    return gpu_memory::chunks(gpu.handle(), bytes, 1, true, gpu.attribute(attribute_vmm_rdma) != 0);
}

int attribute_of(CUdevice gpu, int which) {
    int value = 0;
    return cuda::api().device_get_attribute(&value, which, gpu) == cuda::success ? value : 0;
}

} // namespace

selected_gpu::selected_gpu(int ordinal)
    : handle_(open(ordinal)), context_(cuda::primary_context::retain(handle_)),
      scope_(context_.get()) {}

int selected_gpu::attribute(int which) const {
    return attribute_of(handle_, which);
}

selected_gpu say_and_select_gpu(int ordinal) {
    (void)gdrapi(); // before anything is started
    cuda::driver_api const& cu = cuda::api();
    int count = 0;
    cuda::check(cu.device_get_count(&count), "count the GPUs");
    for (int i = 0; i < count; ++i) {
        std::array<char, 256> name{};
        CUdevice const gpu = open(i);
        cuda::check(cu.device_get_name(name.data(), int(name.size()), gpu), "read a GPU's name");
        say("GPU id:{}; name: {}; Bus id: {:04x}:{:02x}:{:02x}\n", i, name.data(),
            attribute_of(gpu, cuda::attribute_pci_domain_id),
            attribute_of(gpu, cuda::attribute_pci_bus_id),
            attribute_of(gpu, cuda::attribute_pci_device_id));
    }
    say("selecting device {}\n", ordinal);
    return selected_gpu(ordinal);
}

gpu_buffer::gpu_buffer(selected_gpu const& gpu, std::string const& function, std::size_t bytes)
    : memory_(allocate(gpu, function, bytes)), address_(round_up(memory_.address(), GPU_PAGE_SIZE)),
      size_(bytes) {}

} // namespace barmap::tool::gdrcopy
