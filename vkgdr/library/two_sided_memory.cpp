// SPDX-License-Identifier: MIT
#include "two_sided_memory.hpp"

#include "cuda/current_gpu.hpp"
#include "cuda/driver_api.hpp"

#include <barmap/error.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace barmap::vkgdr {
namespace {

/// VkPhysicalDeviceLimits::nonCoherentAtomSize of NVIDIA's GPUs, as vulkaninfo shows it for them
/// (0x40), and of Mesa's software device.
constexpr std::size_t non_coherent_atom_size = 64;

/// In Vulkan's sense: what one side wrote needs no flush for the other side to see it. Nothing but
/// such memory comes from barmap: backend vulkan asks for VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, and
/// the others map BAR1, behind which there is no cache of the CPU's, or memory in its cache domain.
bool is_coherent(cache_kind kind) noexcept {
    switch (kind) {
    case cache_kind::write_combining:
    case cache_kind::cached:
    case cache_kind::uncached:
        return true;
    }
    return false;
}

struct reached {
    std::uintptr_t gpu_address;
    mapping map;
};

reached allocate(device const& gpu, std::size_t bytes, std::string_view backend) {
    pin const made = gpu.allocate(bytes, backend);
    return {made.gpu_address(), made.map()};
}

reached allocate_somehow(device const& gpu, std::size_t bytes) {
    try {
        return allocate(gpu, bytes, "vulkan");
    } catch (error const& by_vulkan) {
        try {
            return allocate(gpu, bytes, {});
        } catch (error const& otherwise) {
            // If all backends are absent, the second error also names vulkan.
            bool const told_already = by_vulkan.code() == otherwise.code() &&
                                      (by_vulkan.code() == errc::backend_absent ||
                                       by_vulkan.backend() == otherwise.backend());
            if (told_already)
                throw;
            throw std::runtime_error(text_of(otherwise) +
                                     ". Tried before that: " + by_vulkan.what());
        }
    }
}

} // namespace

std::string text_of(error const& failure) {
    bool const out_of_memory =
        failure.code() == std::error_code(cuda::error_out_of_memory, cuda_category());
    return std::string(failure.what()) +
           (out_of_memory ? " (in Vulkan's words: VK_ERROR_OUT_OF_DEVICE_MEMORY)" : "");
}

int ordinal_of_current_context(char const* operation) {
    cuda::driver_api const& cu = cuda::api();
    CUcontext current = nullptr;
    cuda::check(cu.ctx_get_current(&current), operation);
    CUdevice device = -1;
    cuda::check(current ? cu.ctx_get_device(&device) : cuda::error_invalid_context, operation,
                "this thread has no current CUDA context: make one current first");
    return ordinal_of(device);
}

int ordinal_of(int cuda_device) {
    (void)cuda::api(); // says why there is no driver
    if (std::optional<int> const found = cuda::ordinal_with(cuda_device))
        return *found;
    throw error({cuda::error_invalid_device, cuda_category()},
                "open CUDA device " + std::to_string(cuda_device), "",
                "CUDA shows " + std::to_string(device::count()) + " to this process");
}

two_sided_memory::two_sided_memory(device const& gpu, std::size_t bytes, coherence wanted) {
    reached made = allocate_somehow(gpu, bytes);
    gpu_address_ = made.gpu_address;
    map_ = std::move(made.map);
    if (wanted.required && !is_coherent(map_.kind()))
        throw error(errc::unsupported_operation, "allocate coherent memory",
                    std::string(map_.backend()), "open without VKGDR_OPEN_REQUIRE_COHERENT_BIT");
    coherent_ = !wanted.denied && is_coherent(map_.kind());
}

std::size_t two_sided_memory::atom_size() const noexcept {
    return coherent_ ? 1 : non_coherent_atom_size;
}

// The valid usage of VkMappedMemoryRange, for memory that is mapped as a whole.
char const* two_sided_memory::broken_rule(std::size_t offset, std::size_t bytes) const noexcept {
    if (coherent_) // Vulkan need not be called for such memory, so no rule of its applies
        return nullptr;
    constexpr std::size_t to_the_end = SIZE_MAX; // VK_WHOLE_SIZE
    if (offset > size() || (bytes != to_the_end && bytes > size() - offset))
        return "the range leaves the memory";
    if (offset % atom_size() != 0)
        return "the offset is no multiple of the atom size";
    if (bytes != to_the_end && bytes % atom_size() != 0 && offset + bytes != size())
        return "the size is no multiple of the atom size, and the range does not end with the "
               "memory";
    return nullptr;
}

} // namespace barmap::vkgdr
