// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/device.hpp>
#include <barmap/error.hpp>
#include <barmap/mapping.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace barmap::vkgdr {

/// The requests in the flags of vkgdr_open.
struct coherence {
    bool denied = false;   ///< VKGDR_OPEN_FORCE_NON_COHERENT_BIT
    bool required = false; ///< VKGDR_OPEN_REQUIRE_COHERENT_BIT
};

/// The text of an error. Programs for the original look for Vulkan's word where the GPU's memory
/// is used up, so that stands beside CUDA's.
[[nodiscard]] std::string text_of(error const& failure);

/// The GPU of the calling thread's context. @throws error with CUDA_ERROR_INVALID_CONTEXT where the
/// thread has none
[[nodiscard]] int ordinal_of_current_context(char const* operation);

/// The GPU that CUDA calls so. @throws error with CUDA_ERROR_INVALID_DEVICE
[[nodiscard]] int ordinal_of(int cuda_device);

/// GPU memory with an address on both sides. It holds its device. Thread rule: as mapping.
class two_sided_memory {
public:
    /// By backend vulkan, or where that fails by the first other backend that can.
    /// @throws error, or std::runtime_error with what both ways failed of
    two_sided_memory(device const& gpu, std::size_t bytes, coherence wanted);

    [[nodiscard]] void* cpu_address() const noexcept { return map_.data(); }
    [[nodiscard]] std::uintptr_t gpu_address() const noexcept { return gpu_address_; }
    [[nodiscard]] std::size_t size() const noexcept { return map_.size(); }
    [[nodiscard]] bool coherent() const noexcept { return coherent_; }
    /// Alignment of ranges to flush and to invalidate, bytes.
    [[nodiscard]] std::size_t atom_size() const noexcept;

    /// @return why Vulkan would not allow to flush or to invalidate this range; null if it would
    [[nodiscard]] char const* broken_rule(std::size_t offset, std::size_t bytes) const noexcept;

private:
    std::uintptr_t gpu_address_ = 0;
    mapping map_;
    bool coherent_;
};

} // namespace barmap::vkgdr
