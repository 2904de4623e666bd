// SPDX-License-Identifier: MIT
#include "gpu/gpu_identity.hpp"

#include "cuda/driver_api.hpp"

#include <array>

namespace barmap {
namespace {

std::uint32_t attribute(CUdevice device, int which) {
    int value = 0;
    cuda::check(cuda::api().device_get_attribute(&value, which, device),
                "read an attribute of the GPU");
    return static_cast<std::uint32_t>(value);
}

/// Whether GPU and CPU share page tables, as those that NVLink-C2C joins do. Asked for apart, as
/// drivers before CUDA 9.2 do not know the question.
bool has_coherent_link(backend::gpu const& gpu) {
    int value = 0;
    return cuda::api().device_get_attribute(&value, cuda::attribute_host_page_tables, gpu.handle) ==
               cuda::success &&
           value != 0;
}

} // namespace

backend::gpu identify(int ordinal) {
    cuda::driver_api const& cu = cuda::api();
    int count = 0;
    cuda::check(cu.device_get_count(&count), "count the GPUs");
    if (ordinal < 0 || ordinal >= count)
        throw error(errc::no_device, "open GPU " + std::to_string(ordinal), "",
                    count == 0 ? "CUDA shows no GPU to this process: see CUDA_VISIBLE_DEVICES"
                               : "CUDA shows the GPUs 0 to " + std::to_string(count - 1));
    backend::gpu gpu;
    gpu.ordinal = ordinal;
    gpu.handle = cuda::device_with(ordinal);
    std::array<char, 256> name{};
    cuda::check(cu.device_get_name(name.data(), static_cast<int>(name.size()) - 1, gpu.handle),
                "read the GPU's name");
    gpu.name = name.data();
    cuda::check(cu.device_get_uuid(&gpu.uuid, gpu.handle), "read the GPU's UUID");
    gpu.pci.domain = attribute(gpu.handle, cuda::attribute_pci_domain_id);
    gpu.pci.bus = attribute(gpu.handle, cuda::attribute_pci_bus_id);
    gpu.pci.slot = attribute(gpu.handle, cuda::attribute_pci_device_id);
    gpu.pci_address = gpu.pci.text();
    gpu.driver_version = cu.version;
    gpu.simulated = cu.simulated;
    // CUDA names a MIG slice after its profile: "NVIDIA A100-SXM4-40GB MIG 1g.5gb".
    gpu.mig = gpu.name.find(" MIG ") != std::string::npos;
    gpu.coherent = attribute(gpu.handle, cuda::attribute_integrated) != 0 || has_coherent_link(gpu);
    return gpu;
}

} // namespace barmap
