// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/context_scope.hpp"
#include "map/backend.hpp"
#include "shared/caught.hpp"
#include "shared/changed_driver.hpp"
#include "shared/memory.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace barmap::test {

/// Points the Vulkan loader at the software device, and makes a simulated GPU with that device's
/// UUID what CUDA shows. Before anything loads either.
void choose_software_gpu();

/// Why there is no software Vulkan device here; empty if there is one.
[[nodiscard]] std::string const& why_no_software_gpu();

/// The simulated GPU, as a device would describe it to its backends.
[[nodiscard]] backend::gpu simulated_gpu();

/// Skips where there is no software Vulkan device, or fails if BARMAP_REQUIRE names vulkan.
class software_gpu_test : public testing::Test {
protected:
    void SetUp() override;
};

/// With a context that is current on this thread. Fails if CUDA objects are left behind.
class cuda_test : public software_gpu_test {
protected:
    void SetUp() override;
    void TearDown() override;

    /// A started backend.
    [[nodiscard]] static std::unique_ptr<backend::backend> started();

private:
    CUcontext context_ = nullptr;
    std::size_t live_before_ = 0;
};

/// Writes random-looking bytes on one side and expects them on the other, both ways.
void expect_same_memory(std::byte* cpu, CUdeviceptr gpu, std::size_t bytes);

/// Open descriptors of this process.
[[nodiscard]] std::size_t open_descriptors();

/// Mappings of files without a name, which is what GPU memory is made of here.
[[nodiscard]] std::size_t memory_mappings();

} // namespace barmap::test
