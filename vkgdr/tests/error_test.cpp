// SPDX-License-Identifier: MIT
#include "machine.hpp"

#include "shared/cancelled_thread.hpp"

#include <cstdlib>
#include <limits>
#include <string_view>
#include <thread>

/// What is refused, and what vkgdr_last_error() says of it. The words are those that programs
/// written for the original look for.
namespace barmap::vkgdr_test {
namespace {

using error_test = vkgdr_test;

TEST_P(error_test, an_unknown_device) {
    for (CUdevice const device : {-1, 1000}) {
        EXPECT_EQ(vkgdr_open(device, 0), nullptr);
        expect_error("CUDA_ERROR_INVALID_DEVICE");
        EXPECT_EQ(vkgdr_open(device, VKGDR_OPEN_REQUIRE_COHERENT_BIT), nullptr);
        expect_error("CUDA_ERROR_INVALID_DEVICE");
    }
    opened const gpu(by_context);
    vkgdr_t const by_number_ignored = vkgdr_open(-1, by_context);
    EXPECT_NE(by_number_ignored, nullptr) << last_error();
    vkgdr_close(by_number_ignored);
}

TEST_P(error_test, a_cancelled_thread_ends_after_the_call) {
    // It opens files, which ends such threads.
    EXPECT_TRUE(returns_to_a_cancelled_thread([] { opened const gpu(0); }));
}

TEST_P(error_test, no_current_context) {
    without_context([] {
        EXPECT_EQ(vkgdr_open(0, by_context), nullptr);
        expect_error("CUDA_ERROR_INVALID_CONTEXT");
    });
    opened const gpu;
    without_context([&] {
        EXPECT_EQ(vkgdr_memory_alloc(gpu.get(), 123, 0), nullptr);
        expect_error("CUDA_ERROR_INVALID_CONTEXT");
    });
    allocated const memory(gpu, 123);
    std::thread([&] {
        EXPECT_EQ(vkgdr_memory_alloc(gpu.get(), 123, 0), nullptr);
        expect_error("CUDA_ERROR_INVALID_CONTEXT");
    }).join();
}

TEST_P(error_test, unknown_flags) {
    for (std::uint32_t const flags : {8u, 1u << 31, by_context | 16u, ~0u}) {
        EXPECT_EQ(vkgdr_open(0, flags), nullptr) << flags;
        expect_error("flags " + std::to_string(flags));
    }
    opened const gpu;
    for (std::uint32_t const flags : {1u, 1u << 31}) {
        EXPECT_EQ(vkgdr_memory_alloc(gpu.get(), 100, flags), nullptr) << flags;
        expect_error("flags " + std::to_string(flags));
    }
}

TEST_P(error_test, no_bytes) {
    opened const gpu;
    EXPECT_EQ(vkgdr_memory_alloc(gpu.get(), 0, 0), nullptr);
    expect_error("0 bytes");
    EXPECT_EQ(std::string(last_error()).find("Tried"), std::string::npos) << last_error();
}

TEST_P(error_test, more_memory_than_there_is) {
    opened const gpu;
    std::size_t const before = free_gpu_memory();
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    for (std::size_t const bytes : {std::size_t{1'000'000'000'000'000}, most, most - 65536}) {
        EXPECT_EQ(vkgdr_memory_alloc(gpu.get(), bytes, 0), nullptr);
        expect_error(GetParam().out_of_memory);
        expect_error("VK_ERROR_OUT_OF_DEVICE_MEMORY"); // what programs look for
        expect_error(std::to_string(bytes) + " bytes");
        if (GetParam().vulkan) { // which is the only backend then
            EXPECT_EQ(last_error().find("Tried before that"), std::string::npos) << last_error();
        }
    }
    EXPECT_EQ(free_gpu_memory(), before);
    allocated const memory(gpu, 1000); // it is as good as new
}

TEST_P(error_test, the_last_error_lives_until_the_next_opening_or_allocation) {
    EXPECT_EQ(last_error(), "(none)");
    EXPECT_EQ(vkgdr_open(-1, 0), nullptr);
    expect_error("CUDA_ERROR_INVALID_DEVICE");
    expect_error("CUDA_ERROR_INVALID_DEVICE"); // asking does not clear it
    {
        opened const gpu;
        EXPECT_EQ(last_error(), "(none)");
        EXPECT_EQ(vkgdr_memory_alloc(gpu.get(), 0, 0), nullptr);
        allocated const* memory = nullptr;
        EXPECT_NE(last_error(), "(none)");
        memory = new allocated(gpu, 1000);
        EXPECT_EQ(last_error(), "(none)");
        EXPECT_EQ(vkgdr_memory_alloc(gpu.get(), 1, 1), nullptr);
        std::string const before = last_error();
        // These go well, and say nothing.
        vkgdr_memory_flush(memory->get(), 0, 1000);
        vkgdr_memory_invalidate(memory->get(), 0, 1000);
        (void)vkgdr_memory_get_size(memory->get());
        delete memory;
        vkgdr_close(nullptr);
        vkgdr_memory_free(nullptr);
        EXPECT_EQ(last_error(), before);
    }
}

TEST_P(error_test, each_thread_has_its_own_last_error) {
    EXPECT_EQ(vkgdr_open(-1, 0), nullptr);
    std::thread([] {
        EXPECT_EQ(last_error(), "(none)");
        EXPECT_EQ(vkgdr_open(0, 1u << 20), nullptr);
        expect_error("flags 1048576");
    }).join();
    expect_error("CUDA_ERROR_INVALID_DEVICE");
}

TEST_P(error_test, a_forced_backend_is_kept_to) {
    if (std::string_view(GetParam().name) != "simulated_gpu")
        GTEST_SKIP() << "the simulated GPU without Vulkan is enough";
    ::setenv("BARMAP_BACKEND", "dmabuf", 1);
    opened const gpu;
    allocated const memory(gpu, 1000);
    EXPECT_EQ(vkgdr_memory_alloc(gpu.get(), 1'000'000'000'000'000, 0), nullptr);
    expect_error("backend dmabuf): CUDA_ERROR_OUT_OF_MEMORY");
    expect_error("VK_ERROR_OUT_OF_DEVICE_MEMORY");
    EXPECT_EQ(vkgdr_memory_alloc(gpu.get(), 0, 0), nullptr);
    EXPECT_EQ(last_error().find("VK_ERROR"), std::string::npos) << last_error();
}

TEST_P(error_test, each_way_that_failed_is_named_once) {
    if (std::string_view(GetParam().name) != "simulated_gpu")
        GTEST_SKIP() << "the simulated GPU without Vulkan is enough";
    opened const gpu;
    EXPECT_EQ(vkgdr_memory_alloc(gpu.get(), 1'000'000'000'000'000, 0), nullptr);
    expect_error("(backend dmabuf): CUDA_ERROR_OUT_OF_MEMORY");
    expect_error("VK_ERROR_OUT_OF_DEVICE_MEMORY). Tried before that: ");
    std::string const seen = last_error();
    EXPECT_NE(seen.find("vulkan", seen.find("Tried before that")), std::string::npos) << seen;
}

TEST_P(error_test, a_long_error_is_cut) {
    if (std::string_view(GetParam().name) != "simulated_gpu")
        GTEST_SKIP() << "the simulated GPU without Vulkan is enough";
    ::setenv("BARMAP_BACKEND", std::string(10'000, 'x').c_str(), 1);
    EXPECT_EQ(vkgdr_open(0, 0), nullptr);
    EXPECT_EQ(last_error().size(), 4095u);
    expect_error("xxx");
}

BARMAP_ON_ALL_MACHINES(error_test);

TEST(without_any_way, every_way_is_named_with_its_reason) {
    ::setenv("BARMAP_SIM", "1", 1);
    ::setenv("BARMAP_SIM_DRIVER", "580", 1);
    EXPECT_EQ(vkgdr_open(0, 0), nullptr);
    for (char const* each : {"gdrdrv: cannot", "dmabuf: cannot", "rm: cannot", "vulkan: cannot"})
        expect_error(each);
    EXPECT_EQ(last_error().find("Tried before that"), std::string::npos) << last_error();
}

TEST(without_a_gpu, it_is_said) {
    ::setenv("BARMAP_SIM", "1", 1);
    ::setenv("BARMAP_SIM_DEVICES", "0", 1);
    EXPECT_EQ(vkgdr_open(0, 0), nullptr);
    expect_error("CUDA_ERROR_NO_DEVICE");
    EXPECT_EQ(vkgdr_open(0, by_context), nullptr);
    expect_error("CUDA_ERROR_NO_DEVICE");
}

TEST(two_gpus, memory_is_of_the_gpu_that_was_opened) {
    ::setenv("BARMAP_SIM", "1", 1);
    ::setenv("BARMAP_SIM_DEVICES", "2", 1);
    CUcontext first = nullptr, second = nullptr;
    expect_success(cuda::api().primary_ctx_retain(&first, 0));
    expect_success(cuda::api().primary_ctx_retain(&second, 1));
    expect_success(cuda::api().ctx_set_current(second));
    vkgdr_t const by_number = vkgdr_open(0, 0), current = vkgdr_open(0, by_context);
    EXPECT_EQ(vkgdr_memory_alloc(by_number, 100, 0), nullptr);
    expect_error("CUDA_ERROR_INVALID_CONTEXT");
    vkgdr_memory_t const memory = vkgdr_memory_alloc(current, 100, 0);
    ASSERT_NE(memory, nullptr) << last_error();
    int ordinal = -1;
    expect_success(cuda::api().pointer_get_attribute(&ordinal, cuda::pointer_device_ordinal,
                                                     vkgdr_memory_get_device_ptr(memory)));
    EXPECT_EQ(ordinal, 1);
    vkgdr_memory_free(memory);
    vkgdr_close(by_number);
    vkgdr_close(current);
}

} // namespace
} // namespace barmap::vkgdr_test
