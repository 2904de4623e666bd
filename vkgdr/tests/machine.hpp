// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/driver_api.hpp"
#include "shared/memory.hpp"

#include <vkgdr.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

/// libvkgdr as a program meets it, and the CUDA driver as the judge of what is in its memory.
namespace barmap::vkgdr_test {

using namespace test;

/// A machine on which the library is to work.
struct machine {
    char const* name;          ///< in the test's name
    bool vulkan;               ///< memory must come from Vulkan
    char const* out_of_memory; ///< the driver's word for it
    /// Makes the process see it, before any driver is loaded.
    /// @return why there is none; empty if there is one
    std::string (*prepare)();
};

[[nodiscard]] std::vector<machine> machines();
void PrintTo(machine const& which, std::ostream* out);

constexpr std::uint32_t by_context = VKGDR_OPEN_CURRENT_CONTEXT_BIT;

/// A test on each machine, in a process of its own, with the primary context of GPU 0 current.
class vkgdr_test : public testing::TestWithParam<machine> {
protected:
    void SetUp() override;
    void TearDown() override;

    static cuda::driver_api const& cu() { return cuda::api(); }
    /// Runs with no context on this thread, and puts the old one back.
    static void without_context(std::function<void()> const& action);
    /// Waits for the GPU, and tells whether the library freed all that it took since SetUp.
    [[nodiscard]] static std::size_t free_gpu_memory();

private:
    bool has_context_ = false;
};

#define BARMAP_ON_ALL_MACHINES(suite)                                                              \
    INSTANTIATE_TEST_SUITE_P(on, suite, testing::ValuesIn(machines()),                             \
                             [](auto const& info) { return std::string(info.param.name); })

/// vkgdr_last_error() as a string; "(none)" for NULL.
[[nodiscard]] std::string last_error();

/// Expects the words in vkgdr_last_error().
void expect_error(std::string const& words);

/// An opened GPU. Fails the test if it cannot be opened.
class opened {
public:
    explicit opened(std::uint32_t flags = VKGDR_OPEN_CURRENT_CONTEXT_BIT);
    opened(opened const&) = delete;
    opened& operator=(opened const&) = delete;
    ~opened() { close(); }
    void close();
    [[nodiscard]] vkgdr_t get() const { return handle_; }

private:
    vkgdr_t handle_;
};

/// Memory of it. Fails the test if there is none.
class allocated {
public:
    allocated(opened const& gpu, std::size_t bytes);
    allocated(allocated const&) = delete;
    allocated& operator=(allocated const&) = delete;
    ~allocated() { vkgdr_memory_free(handle_); }
    [[nodiscard]] vkgdr_memory_t get() const { return handle_; }
    [[nodiscard]] std::byte* cpu() const {
        return static_cast<std::byte*>(vkgdr_memory_get_host_ptr(handle_));
    }
    [[nodiscard]] CUdeviceptr gpu() const { return vkgdr_memory_get_device_ptr(handle_); }

private:
    vkgdr_memory_t handle_;
};

} // namespace barmap::vkgdr_test
