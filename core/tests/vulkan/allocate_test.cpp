// SPDX-License-Identifier: MIT
#include "cuda/driver_api.hpp"
#include "shared/in_child.hpp"
#include "software_gpu.hpp"
#include "watched_vulkan.hpp"

#include <barmap/barmap.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <unistd.h>

namespace barmap::test {
namespace {

using allocate = cuda_test;

TEST_F(allocate, both_sides_see_one_memory_whatever_its_size) {
    std::unique_ptr<backend::backend> const vulkan = started();
    for (std::size_t const bytes :
         {std::size_t{1}, std::size_t{63}, std::size_t{4096}, std::size_t{65535},
          std::size_t{65536}, std::size_t{65537}, 3 * mib + 17, 64 * mib}) {
        std::unique_ptr<backend::pinned> const pinned = vulkan->allocate(bytes);
        ASSERT_NE(pinned->allocated_address(), 0u);
        std::unique_ptr<backend::mapped> const mapped = pinned->map();
        EXPECT_EQ(mapped->kind, cache_kind::cached); // the software device's memory is
        expect_same_memory(mapped->data, pinned->allocated_address(), bytes);
        CUdeviceptr base = 0;
        std::size_t size = 0;
        EXPECT_EQ(cuda::api().mem_get_address_range(&base, &size, pinned->allocated_address()),
                  cuda::success);
        EXPECT_EQ(size, bytes) << "CUDA knows another size";
    }
}

TEST_F(allocate, nothing_is_left_behind) {
    std::unique_ptr<backend::backend> vulkan = started();
    (void)vulkan->allocate(1)->map(); // whatever the drivers keep after their first allocation
    watched_vulkan watched;
    vulkan = started();
    std::size_t const descriptors = open_descriptors(), mappings = memory_mappings();
    {
        std::unique_ptr<backend::pinned> const first = vulkan->allocate(mib);
        std::unique_ptr<backend::pinned> const second = vulkan->allocate(5);
        std::unique_ptr<backend::mapped> const mapped = first->map();
        EXPECT_EQ(watched.live(), (live_objects{1, 1, 2, 1}));
        EXPECT_GT(memory_mappings(), mappings);
    }
    EXPECT_EQ(watched.live(), (live_objects{1, 1, 0, 0}));
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(memory_mappings(), mappings);
    vulkan.reset();
    EXPECT_EQ(watched.live(), live_objects{});
}

TEST_F(allocate, two_mappings_share_their_addresses_and_the_last_one_unmaps) {
    watched_vulkan watched;
    std::unique_ptr<backend::backend> const vulkan = started();
    std::unique_ptr<backend::pinned> const pinned = vulkan->allocate(mib);
    std::unique_ptr<backend::mapped> first = pinned->map();
    std::unique_ptr<backend::mapped> second = pinned->map();
    EXPECT_EQ(first->data, second->data);
    EXPECT_EQ(watched.live().maps, 1);
    first.reset();
    EXPECT_EQ(watched.live().maps, 1);
    expect_same_memory(second->data, pinned->allocated_address(), mib);
    second.reset();
    EXPECT_EQ(watched.live().maps, 0);
    std::unique_ptr<backend::mapped> const third = pinned->map();
    expect_same_memory(third->data, pinned->allocated_address(), mib);
}

TEST_F(allocate, more_than_there_is_is_out_of_device_memory) {
    std::unique_ptr<backend::backend> const vulkan = started();
    watched_vulkan watched;
    for (std::size_t const bytes :
         {std::size_t{1'000'000'000'000'000}, ~std::size_t{0}, ~std::size_t{0} - 65535}) {
        SCOPED_TRACE(bytes);
        error const failure = caught([&] { (void)vulkan->allocate(bytes); });
        EXPECT_EQ(failure.code(),
                  (std::error_code{VK_ERROR_OUT_OF_DEVICE_MEMORY, vulkan_category()}))
            << failure.what();
        EXPECT_EQ(failure.backend(), "");
        EXPECT_NE(failure.advice().find("Resizable BAR"), std::string::npos);
    }
}

TEST_F(allocate, a_whole_heap_may_be_asked_for_and_no_more) {
    watched_vulkan watched;
    VkPhysicalDeviceMemoryProperties memory{};
    memory.memoryHeapCount = memory.memoryTypeCount = 1;
    memory.memoryHeaps[0] = {mib, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    memory.memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                          VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                          VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    watched.show_memory(memory);
    std::unique_ptr<backend::backend> const vulkan = started();
    watched.fail("vkAllocateMemory", VK_ERROR_OUT_OF_HOST_MEMORY);
    auto const answer = [&](std::size_t bytes) {
        return caught([&] { (void)vulkan->allocate(bytes); }).code().value();
    };
    EXPECT_EQ(answer(mib), VK_ERROR_OUT_OF_HOST_MEMORY) << "it was not asked for";
    EXPECT_EQ(answer(mib + 1), VK_ERROR_OUT_OF_DEVICE_MEMORY) << "it was asked for";
}

TEST_F(allocate, what_is_exported_can_be_pinned_and_is_the_same_memory) {
    std::unique_ptr<backend::backend> const vulkan = started();
    std::size_t const bytes = mib + 100;
    std::unique_ptr<backend::pinned> const owner = vulkan->allocate(bytes);
    ASSERT_NE(owner->exported(), nullptr);
    std::size_t const descriptors = open_descriptors();
    {
        cuda::memory memory;
        memory.kind = memory_kind::allocated;
        memory.address = owner->allocated_address() + 4097;
        memory.size = 5000;
        memory.chunks = {{owner->allocated_address(), bytes, 4097, 5000}};
        memory.exported = owner->exported();
        std::unique_ptr<backend::pinned> const pinned = vulkan->pin(memory);
        EXPECT_EQ(pinned->allocated_address(), 0u);
        std::unique_ptr<backend::mapped> const mapped = pinned->map();
        expect_same_memory(mapped->data, memory.address, memory.size);
    }
    EXPECT_EQ(open_descriptors(), descriptors) << "the exported descriptor was used up";
}

TEST_F(allocate, cuda_lets_go_before_vulkan_does) {
    static watched_vulkan* noting = nullptr;
    watched_vulkan watched;
    noting = &watched;
    std::unique_ptr<backend::backend> vulkan = started();
    changed_driver noted;
    noted->mem_free = [](CUdeviceptr address) {
        noting->note("cuMemFree");
        return changed_driver::real.mem_free(address);
    };
    noted->destroy_external_memory = [](CUexternalMemory memory) {
        noting->note("cuDestroyExternalMemory");
        return changed_driver::real.destroy_external_memory(memory);
    };
    std::unique_ptr<backend::pinned> pinned = vulkan->allocate(100);
    vulkan.reset(); // the pin holds the session
    std::unique_ptr<backend::mapped> mapped = pinned->map();
    mapped.reset();
    pinned.reset();
    noted.restore();
    std::vector<std::string> const& calls = watched.calls();
    std::vector<std::string> const expected{"vkUnmapMemory",           "cuMemFree",
                                            "cuDestroyExternalMemory", "vkFreeMemory",
                                            "vkDestroyDevice",         "vkDestroyInstance"};
    ASSERT_GE(calls.size(), expected.size());
    EXPECT_TRUE(std::equal(expected.rbegin(), expected.rend(), calls.rbegin()))
        << testing::PrintToString(calls);
}

TEST_F(allocate, a_thread_without_a_context_gets_an_address_that_stays) {
    std::unique_ptr<backend::backend> const vulkan = started();
    std::unique_ptr<backend::pinned> pinned;
    std::thread([&] { pinned = vulkan->allocate(4096); }).join();
    std::unique_ptr<backend::mapped> mapped = pinned->map();
    expect_same_memory(mapped->data, pinned->allocated_address(), 4096);
    std::thread([&] {
        mapped.reset();
        pinned.reset();
    }).join();
}

TEST_F(allocate, threads_may_do_it_at_once) {
    std::unique_ptr<backend::backend> const vulkan = started();
    std::unique_ptr<backend::pinned> const shared = vulkan->allocate(4096);
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 4; ++thread)
        threads.emplace_back([&vulkan, &shared, thread] {
            for (int round = 0; round < 20; ++round) {
                std::unique_ptr<backend::pinned> const own = vulkan->allocate(1000 + thread);
                std::unique_ptr<backend::mapped> const mapped = own->map();
                std::unique_ptr<backend::mapped> const common = shared->map();
                std::memset(mapped->data, 1, 1000 + thread);
                common->data[thread * 64] = std::byte{1};
            }
        });
    for (std::thread& thread : threads)
        thread.join();
}

TEST_F(allocate, a_forked_child_has_no_mapping_and_may_drop_its_objects) {
    std::unique_ptr<backend::backend> vulkan = started();
    std::unique_ptr<backend::pinned> pinned = vulkan->allocate(mib);
    std::unique_ptr<backend::mapped> mapped = pinned->map();
    EXPECT_NE(in_child(0, [&] { mapped->data[0] = std::byte{1}; }), 0)
        << "the child wrote to GPU memory";
    int const status = in_child(0, [&] {
        bool refused = false;
        try {
            (void)pinned->map();
        } catch (error const& failure) {
            refused = failure.code() == errc::forked_child;
        }
        mapped.reset();
        pinned.reset();
        vulkan.reset();
        ::_exit(refused ? 0 : 1);
    });
    expect_exit(0, status);
    expect_same_memory(mapped->data, pinned->allocated_address(), mib);
}

/// Objects that the user forgot in static storage, made before Vulkan was loaded.
struct forgotten {
    watched_vulkan watched;
    std::unique_ptr<backend::backend> vulkan;
    std::unique_ptr<backend::pinned> pinned;
    std::unique_ptr<backend::mapped> mapped;
    ~forgotten() {
        mapped.reset();
        pinned.reset();
        vulkan.reset();
        std::fprintf(stderr, "last call: %s\n", watched.calls().back().c_str());
    }
};

TEST_F(allocate, what_is_left_at_process_exit_is_abandoned) {
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process of its own from the start
    EXPECT_EXIT(
        {
            static forgotten left;
            left.vulkan = started();
            left.pinned = left.vulkan->allocate(100);
            left.mapped = left.pinned->map();
            std::exit(0);
        },
        testing::ExitedWithCode(0), "last call: vkMapMemory");
}

TEST_F(allocate, works_through_the_public_interface) {
    device const gpu = device::open();
    pin const owner = gpu.allocate(10'000, "vulkan");
    EXPECT_EQ(owner.backend(), "vulkan");
    mapping const map = owner.map();
    std::vector<std::byte> const sent = pattern(owner.size(), 7);
    write(map.window(), sent);
    EXPECT_TRUE(read_by_driver(owner.gpu_address(), owner.size()) == sent);
    pin const part = gpu.pin(owner.gpu_address() + 100, 1000, {.backend = "vulkan"});
    mapping const part_map = part.map();
    std::vector<std::byte> seen(part.size());
    read(seen, part_map.window());
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), sent.begin() + 100));
}

TEST_F(allocate, the_public_interface_names_the_backend_in_errors) {
    watched_vulkan watched;
    device const gpu = device::open();
    pin const owner = gpu.allocate(10'000, "vulkan");
    for (auto const& action : {std::function<void()>([&] { (void)gpu.allocate(100, "vulkan"); }),
                               std::function<void()>([&] { (void)owner.map(); })}) {
        watched.fail(1, VK_ERROR_TOO_MANY_OBJECTS);
        error const failure = caught(action);
        EXPECT_EQ(failure.backend(), "vulkan") << failure.what();
    }
}

// The memory may be gone with its context, and other memory lie at its address.
TEST_F(allocate, another_allocation_at_the_address_is_not_taken_for_ours) {
    device const gpu = device::open();
    pin const owner = gpu.allocate(10'000, "vulkan");
    EXPECT_EQ(gpu.pin(owner.gpu_address(), 100, {.backend = "vulkan"}).memory(),
              memory_kind::allocated);
    changed_driver later;
    later->pointer_get_attribute = [](void* to, int which, CUdeviceptr address) {
        CUresult const result = changed_driver::real.pointer_get_attribute(to, which, address);
        if (which == cuda::pointer_buffer_id)
            ++*static_cast<unsigned long long*>(to);
        return result;
    };
    EXPECT_EQ(
        caught([&] { (void)gpu.pin(owner.gpu_address(), 100, {.backend = "vulkan"}); }).code(),
        errc::unsupported_memory);
}

// A driver need not say which allocation lies at an address; then it is taken to be ours.
TEST_F(allocate, memory_without_an_identity_is_freed) {
    std::unique_ptr<backend::backend> const vulkan = started();
    changed_driver driver;
    driver->pointer_get_attribute = [](void* to, int which, CUdeviceptr) {
        if (which == cuda::pointer_buffer_id)
            *static_cast<unsigned long long*>(to) = 99; // of no meaning
        return cuda::error_not_supported;
    };
    (void)vulkan->allocate(10'000); // and nothing may be left
}

TEST_F(allocate, another_allocation_at_the_address_is_not_freed) {
    static CUexternalMemory imported;
    static int frees;
    frees = 0;
    std::unique_ptr<backend::backend> const vulkan = started();
    changed_driver driver;
    driver->import_external_memory = [](CUexternalMemory* made,
                                        CUDA_EXTERNAL_MEMORY_HANDLE_DESC const* source) {
        CUresult const result = changed_driver::real.import_external_memory(made, source);
        imported = *made;
        return result;
    };
    std::unique_ptr<backend::pinned> pinned = vulkan->allocate(10'000);
    CUdeviceptr const address = pinned->allocated_address();
    driver->pointer_get_attribute = [](void* to, int which, CUdeviceptr of) {
        CUresult const result = changed_driver::real.pointer_get_attribute(to, which, of);
        if (which == cuda::pointer_buffer_id)
            ++*static_cast<unsigned long long*>(to);
        return result;
    };
    driver->mem_free = [](CUdeviceptr) { return ++frees, cuda::success; };
    pinned.reset();
    driver.restore();
    EXPECT_EQ(frees, 0);
    cuda::api().mem_free(address);
    cuda::api().destroy_external_memory(imported);
}

} // namespace
} // namespace barmap::test
