// SPDX-License-Identifier: MIT
#include "map/vulkan/gpu_session.hpp"
#include "placed_layer.hpp"
#include "software_gpu.hpp"
#include "watched_vulkan.hpp"

#include <algorithm>
#include <cstdlib>

namespace barmap::test {
namespace {

using start = software_gpu_test;

/// What a start that must not succeed says.
error failure_of(backend::gpu const& gpu) {
    std::unique_ptr<backend::backend> const vulkan = backend::make_vulkan(gpu);
    return caught([&] { vulkan->start(); });
}

void expect_absent(error const& failure, char const* in_operation, char const* in_advice) {
    EXPECT_EQ(failure.code(), errc::backend_absent) << failure.what();
    EXPECT_EQ(failure.backend(), "");
    EXPECT_NE(failure.operation().find(in_operation), std::string::npos) << failure.what();
    EXPECT_NE(failure.advice().find(in_advice), std::string::npos) << failure.what();
}

TEST_F(start, finds_the_gpu_by_its_uuid_and_cleans_up) {
    watched_vulkan watched;
    {
        std::unique_ptr<backend::backend> const vulkan = backend::make_vulkan(simulated_gpu());
        vulkan->start();
        EXPECT_EQ(watched.live(), (live_objects{1, 1, 0, 0}));
    }
    EXPECT_EQ(watched.live(), live_objects{});
}

TEST_F(start, heeds_the_alignment_of_placed_mappings) {
    watched_vulkan watched;
    EXPECT_EQ(backend::vulkan::gpu_session(simulated_gpu()).placed_alignment(), 0u);
    watched.add_placed_mapping();
    EXPECT_EQ(backend::vulkan::gpu_session(simulated_gpu()).placed_alignment(),
              placed_layer_alignment);
}

constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                coherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

/// A small heap of the GPU's, the system's memory, and a large heap of the GPU's.
VkPhysicalDeviceMemoryProperties memory_of(std::vector<VkMemoryType> const& types) {
    VkPhysicalDeviceMemoryProperties memory{};
    memory.memoryHeapCount = 3;
    memory.memoryHeaps[0] = {VkDeviceSize{1} << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    memory.memoryHeaps[1] = {VkDeviceSize{8} << 30, 0};
    memory.memoryHeaps[2] = {VkDeviceSize{2} << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    memory.memoryTypeCount = static_cast<std::uint32_t>(types.size());
    std::copy(types.begin(), types.end(), memory.memoryTypes);
    return memory;
}

TEST_F(start, takes_coherent_gpu_memory_that_the_cpu_maps_from_the_largest_heap_first) {
    watched_vulkan watched;
    watched.show_memory(memory_of({{local | visible | coherent, 0},
                                   {local | visible | coherent, 1},
                                   {local | visible, 2},
                                   {local | visible | coherent | cached, 2},
                                   {local | coherent, 2},
                                   {visible | coherent, 2},
                                   {local | visible | coherent, 2}}));
    backend::vulkan::gpu_session const session(simulated_gpu());
    auto const types = session.memory_types();
    ASSERT_EQ(types.size(), 3u);
    EXPECT_EQ(types[0].index, 3u);
    EXPECT_TRUE(types[0].cached);
    EXPECT_EQ(types[1].index, 6u) << "the driver's order within a heap";
    EXPECT_FALSE(types[1].cached);
    EXPECT_EQ(types[1].heap_size, VkDeviceSize{2} << 30);
    EXPECT_EQ(types[2].index, 0u);
    EXPECT_EQ(types[2].heap_size, VkDeviceSize{1} << 30);
}

TEST_F(start, without_gpu_memory_that_the_cpu_maps_it_is_absent) {
    watched_vulkan watched;
    watched.show_memory(memory_of({{local | visible | coherent, 1}, {local, 2}}));
    expect_absent(failure_of(simulated_gpu()), "find GPU memory that the CPU can map",
                  "Resizable BAR");
    EXPECT_EQ(watched.live(), live_objects{});
}

// The layer that plays newer drivers in these tests is built with the same declarations.
TEST(newer_structures, say_what_they_are_and_ask_for_nothing) {
    namespace abi = backend::vulkan::abi;
    EXPECT_EQ(int{abi::map_info{}.type}, 1000271000);
    EXPECT_EQ(int{abi::unmap_info{}.type}, 1000271001);
    EXPECT_EQ(int{abi::map_placed_features{}.type}, 1000272000);
    EXPECT_EQ(int{abi::map_placed_properties{}.type}, 1000272001);
    EXPECT_EQ(int{abi::map_placed_info{}.type}, 1000272002);
    EXPECT_EQ(abi::map_placed_bit, 1u);
    EXPECT_EQ(abi::unmap_reserve_bit, 1u);
    abi::map_info const map;
    EXPECT_EQ(map.next, nullptr);
    EXPECT_EQ(map.flags, 0u);
    EXPECT_EQ(map.offset, 0u);
    EXPECT_EQ(map.size, 0u);
    EXPECT_EQ(abi::unmap_info{}.flags, 0u);
    EXPECT_EQ(abi::map_placed_properties{}.alignment, 0u);
}

TEST_F(start, says_what_it_can) {
    backend::capability_set const can = backend::make_vulkan(simulated_gpu())->capabilities();
    EXPECT_TRUE(can.allocates);
    EXPECT_FALSE(can.quick_start);
    EXPECT_TRUE(can.can_register(memory_kind::virtual_exportable));
    EXPECT_TRUE(can.can_register(memory_kind::allocated));
    EXPECT_FALSE(can.can_register(memory_kind::device));
    EXPECT_FALSE(can.can_register(memory_kind::virtual_opaque));
}

TEST_F(start, without_a_loader_it_is_absent) {
    watched_vulkan watched;
    watched.hide_loader();
    expect_absent(failure_of(simulated_gpu()), "load the Vulkan loader", "libvulkan1");
}

TEST_F(start, without_a_driver_it_is_absent) {
    backend::gpu const gpu = simulated_gpu();
    ::setenv("VK_ICD_FILENAMES", "/nonexistent/icd.json", 1);
    expect_absent(failure_of(gpu), "find a Vulkan driver", "nvidia_icd.json");
    choose_software_gpu();
}

TEST_F(start, without_memory_shared_by_descriptors_it_is_absent) {
    watched_vulkan watched;
    watched.hide_extension("VK_KHR_external_memory_fd");
    expect_absent(failure_of(simulated_gpu()), "VK_KHR_external_memory_fd", "backend rm");
    EXPECT_EQ(watched.live(), live_objects{});
}

TEST_F(start, another_gpu_s_uuid_is_absent_and_lists_what_is_there) {
    watched_vulkan watched;
    backend::gpu gpu = simulated_gpu();
    gpu.uuid.bytes[3] ^= 0x40;
    expect_absent(failure_of(gpu), "llvmpipe", "BARMAP_SIM_UUID");
    gpu.simulated = false;
    expect_absent(failure_of(gpu), "llvmpipe", "nvidia_icd.json");
    EXPECT_EQ(watched.live(), live_objects{});
}

TEST_F(start, every_missing_function_makes_it_absent_and_leaves_nothing) {
    backend::gpu const gpu = simulated_gpu();
#define BARMAP_TEST_NAME(member, symbol) #symbol,
    for (char const* symbol : {BARMAP_VULKAN_GLOBAL_FUNCTIONS(BARMAP_TEST_NAME)
                                   BARMAP_VULKAN_INSTANCE_FUNCTIONS(BARMAP_TEST_NAME)
                                       BARMAP_VULKAN_DEVICE_FUNCTIONS(BARMAP_TEST_NAME)}) {
        watched_vulkan watched;
        watched.hide(symbol);
        expect_absent(failure_of(gpu), symbol, "update");
        // What cannot be destroyed for want of the function to do it stays.
        live_objects expected;
        expected.instances = symbol == std::string("vkDestroyInstance");
        expected.devices = symbol == std::string("vkDestroyDevice");
        EXPECT_EQ(watched.live(), expected) << symbol;
    }
#undef BARMAP_TEST_NAME
}

TEST_F(start, every_failing_call_is_reported_and_leaves_nothing) {
    backend::gpu const gpu = simulated_gpu();
    bool started = false;
    unsigned call = 0;
    while (!started) {
        ASSERT_LT(++call, 100u);
        watched_vulkan watched;
        watched.fail(call, VK_ERROR_OUT_OF_HOST_MEMORY);
        std::unique_ptr<backend::backend> vulkan = backend::make_vulkan(gpu);
        try {
            vulkan->start();
            started = true;
        } catch (error const& failure) {
            EXPECT_EQ(failure.code(), (std::error_code{-1, vulkan_category()})) << failure.what();
            EXPECT_EQ(failure.backend(), "");
            EXPECT_FALSE(failure.advice().empty()) << failure.what();
            EXPECT_EQ(watched.live(), live_objects{}) << "call " << call;
        }
    }
    EXPECT_GE(call, 6u) << "fewer calls failed than start() makes";
}

} // namespace
} // namespace barmap::test
