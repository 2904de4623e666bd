// SPDX-License-Identifier: MIT
#include "cuda/memory.hpp"
#include "placed_layer.hpp"
#include "shared/changed_calls.hpp"
#include "software_gpu.hpp"
#include "watched_vulkan.hpp"

namespace barmap::test {
namespace {

using pin = cuda_test;

TEST_F(pin, any_part_of_a_vmm_chunk_is_the_same_memory) {
    virtual_block const memory(0, {4 * mib});
    std::unique_ptr<backend::backend> const vulkan = started();
    std::size_t const descriptors = open_descriptors(), mappings = memory_mappings();
    for (auto const& [offset, bytes] :
         {std::pair{std::size_t{0}, std::size_t{1}}, std::pair{std::size_t{0}, 4 * mib},
          std::pair{std::size_t{4095}, std::size_t{2}}, std::pair{mib + 3, 2 * mib},
          std::pair{4 * mib - 1, std::size_t{1}}}) {
        CUdeviceptr const address = memory.address() + offset;
        std::unique_ptr<backend::pinned> const pinned = vulkan->pin(cuda::describe(address, bytes));
        EXPECT_EQ(pinned->allocated_address(), 0u);
        EXPECT_EQ(pinned->exported(), nullptr);
        expect_same_memory(pinned->map()->data, address, bytes);
    }
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(memory_mappings(), mappings);
}

TEST_F(pin, keeps_the_memory_when_cuda_has_freed_it) {
    auto memory = std::make_unique<virtual_block>(0, std::vector{2 * mib});
    std::unique_ptr<backend::backend> const vulkan = started();
    std::unique_ptr<backend::pinned> const pinned =
        vulkan->pin(cuda::describe(memory->address(), 100));
    std::unique_ptr<backend::mapped> const mapped = pinned->map();
    mapped->data[7] = std::byte{42};
    memory.reset();
    EXPECT_EQ(mapped->data[7], std::byte{42});
}

TEST_F(pin, several_chunks_are_refused_where_vulkan_cannot_place_mappings) {
    virtual_block const memory(0, {2 * mib, 2 * mib});
    watched_vulkan watched;
    std::unique_ptr<backend::backend> vulkan = started();
    for (bool const offered : {false, true}) {
        if (offered) { // but a driver that cannot unmap safely
            watched.add_placed_mapping();
            placed_layer_can_reserve(false);
            vulkan = started();
        }
        error const failure =
            caught([&] { (void)vulkan->pin(cuda::describe(memory.address(), memory.size())); });
        EXPECT_EQ(failure.code(), errc::unsupported_operation) << failure.what();
        EXPECT_NE(failure.advice().find("one by one"), std::string::npos);
        EXPECT_EQ(watched.live().memories, 0);
    }
    placed_layer_can_reserve(true);
}

TEST_F(pin, several_chunks_become_one_range) {
    virtual_block const memory(0, {2 * mib, 6 * mib, 2 * mib});
    watched_vulkan watched;
    watched.add_placed_mapping();
    std::unique_ptr<backend::backend> const vulkan = started();
    std::size_t const mappings = memory_mappings();
    {
        std::size_t const offset = mib + 5, bytes = 8 * mib;
        CUdeviceptr const address = memory.address() + offset;
        std::unique_ptr<backend::pinned> const pinned = vulkan->pin(cuda::describe(address, bytes));
        std::unique_ptr<backend::mapped> first = pinned->map();
        std::unique_ptr<backend::mapped> second = pinned->map();
        EXPECT_EQ(watched.live(), (live_objects{1, 1, 3, 3}));
        EXPECT_EQ(first->data, second->data);
        first.reset();
        expect_same_memory(second->data, address, bytes);
        second.reset();
        EXPECT_EQ(watched.live(), (live_objects{1, 1, 3, 0}));
        expect_same_memory(pinned->map()->data, address, bytes);
    }
    EXPECT_EQ(watched.live(), (live_objects{1, 1, 0, 0}));
    EXPECT_EQ(memory_mappings(), mappings);
}

// The system aligns what is reserved to its own pages only.
TEST_F(pin, several_chunks_lie_inside_of_what_was_reserved_for_them) {
    virtual_block const memory(0, {2 * mib, 4 * mib});
    static std::uintptr_t begin, end, behind;
    begin = end = behind = 0;
    watched_vulkan watched;
    watched.add_placed_mapping();
    std::unique_ptr<backend::backend> const vulkan = started();
    std::unique_ptr<backend::pinned> const pinned =
        vulkan->pin(cuda::describe(memory.address(), memory.size()));
    changed_calls calls;
    calls->mmap = [](void* at, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
        if (at || bytes < 6 * mib)
            return os::linux_calls().mmap(at, bytes, protection, flags, fd, offset);
        // As far behind an aligned address as can be; what is left of the room stays reserved.
        constexpr std::uintptr_t alignment = placed_layer_alignment;
        std::size_t const room = bytes + 3 * alignment;
        auto const from = reinterpret_cast<std::uintptr_t>(
            os::linux_calls().mmap(at, room, protection, flags, fd, offset));
        begin = (from + alignment - 1) / alignment * alignment + os::page_size();
        end = begin + bytes;
        behind = from + room;
        return reinterpret_cast<void*>(begin);
    };
    std::unique_ptr<backend::mapped> const mapped = pinned->map();
    calls.restore();
    auto const data = reinterpret_cast<std::uintptr_t>(mapped->data);
    EXPECT_EQ(data % placed_layer_alignment, 0u);
    EXPECT_GE(data, begin);
    EXPECT_LE(data + memory.size(), end);
    expect_same_memory(mapped->data, memory.address(), memory.size());
    ASSERT_LT(end, behind);
    os::linux_calls().munmap(reinterpret_cast<void*>(end), behind - end);
}

// Vulkan may put each object where there is room.
TEST_F(pin, several_chunks_are_cached_only_if_all_are) {
    virtual_block const memory(0, {2 * mib, 2 * mib});
    watched_vulkan watched;
    watched.add_placed_mapping();
    constexpr VkMemoryPropertyFlags mappable = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                               VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                               VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties types{};
    types.memoryHeapCount = 1;
    types.memoryHeaps[0] = {VkDeviceSize{1} << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    types.memoryTypeCount = 2; // of the software device, which has one, either is the same
    types.memoryTypes[0] = {mappable | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0};
    types.memoryTypes[1] = {mappable, 0};
    watched.show_memory(types);
    std::unique_ptr<backend::backend> const vulkan = started();
    auto const kind = [&] {
        return vulkan->pin(cuda::describe(memory.address(), memory.size()))->map()->kind;
    };
    EXPECT_EQ(kind(), cache_kind::cached);
    watched.fail(2, VK_ERROR_OUT_OF_DEVICE_MEMORY); // the second object's first attempt
    EXPECT_EQ(kind(), cache_kind::write_combining);
}

TEST_F(pin, what_is_more_than_the_heap_is_refused_before_vulkan_is_asked) {
    virtual_block const memory(0, {2 * mib});
    watched_vulkan watched;
    std::unique_ptr<backend::backend> const vulkan = started();
    cuda::memory described = cuda::describe(memory.address(), 100);
    described.chunks.front().capacity = std::size_t{1} << 60;
    EXPECT_EQ(caught([&] { (void)vulkan->pin(described); }).code(),
              (std::error_code{VK_ERROR_OUT_OF_DEVICE_MEMORY, vulkan_category()}));
    described.chunks.front().capacity = 50; // less than what is wanted of it
    EXPECT_THROW((void)vulkan->pin(described), error);
}

} // namespace
} // namespace barmap::test
