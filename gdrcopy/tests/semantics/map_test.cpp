// SPDX-License-Identifier: MIT
#include "semantics/fixture.hpp"

#include <array>

/// Mappings and copies. The contract is that of gdrapi.h.
namespace barmap::dropin {
namespace {

using map = semantics;

TEST_F(map, starts_at_the_pinned_address) {
    (void)memory(100, 3);
    gpu_block const block = memory(70000, 1);
    gpu_block const neighbour = memory(100, 2);
    for (std::uint64_t const offset : {0, 3, 4096, 69000}) {
        gpu_block const part{block.address + offset, 999, 40};
        gdr_mh_t const handle = pinned(part.address, part.size);
        unsigned char* const va = mapped(handle);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(va) % 4096, part.address % 4096);
        EXPECT_EQ(info_of(handle).va, part.address) << "so that with and without it va is right";
        expect_same_memory(handle, va, part);
        EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
    }
    require_untouched(&cuda_, neighbour);
}

TEST_F(map, comes_back_after_a_checkpoint) {
    gpu_block const block = memory(70000, 1);
    gdr_mh_t const handle = pinned(block.address, block.size);
    unsigned char* const va = mapped(handle);
    gdr_mh_t other{};
    EXPECT_EQ(gdr_barmap_checkpoint_prepare(1'000'000'000), 0);
    EXPECT_EQ(gdr_barmap_checkpoint_prepare(0), 0);
    EXPECT_EQ(gdr_pin_buffer(g_, block.address, 100, 0, 0, &other), EIO);
    EXPECT_EQ(gdr_barmap_checkpoint_restore(), 0);
    EXPECT_EQ(gdr_barmap_checkpoint_restore(), 0);
    expect_same_memory(handle, va, block);
    EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
}

TEST_F(map, maps_all_pages_whatever_the_size) {
    gpu_block const block = memory(1 << 20);
    gdr_mh_t const handle = pinned(block.address, block.size);
    void* va = nullptr;
    EXPECT_EQ(gdr_map(g_, handle, &va, 1), 0);
    expect_same_memory(
        handle, static_cast<unsigned char*>(va) + (block.address - info_of(handle).va), block);
    EXPECT_EQ(gdr_unmap(g_, handle, va, 1), 0);
}

TEST_F(map, refuses_sizes_of_0_and_beyond_the_pages) {
    gdr_mh_t const handle = pinned(memory(1000).address, 1000);
    std::size_t const all = info_of(handle).mapped_size;
    void* va = nullptr;
    for (std::size_t const size :
         {std::size_t{0}, all + 1, std::size_t{1} << 63, ~std::size_t{0}}) {
        EXPECT_EQ(gdr_map(g_, handle, &va, size), EINVAL) << size;
        EXPECT_EQ(gdr_map_v2(g_, handle, &va, size, 0), EINVAL) << size;
    }
    EXPECT_FALSE(info_of(handle).mapped);
    EXPECT_EQ(gdr_map(g_, handle, &va, all), 0);
}

TEST_F(map, refuses_null_pointers) {
    gdr_mh_t const handle = pinned(memory(1000).address, 1000);
    void* va = nullptr;
    EXPECT_EQ(gdr_map(g_, handle, nullptr, 8), EINVAL);
    EXPECT_EQ(gdr_map_v2(g_, handle, nullptr, 8, 0), EINVAL);
    EXPECT_EQ(gdr_map(nullptr, handle, &va, 8), EINVAL);
    EXPECT_EQ(gdr_unmap(nullptr, handle, &va, 8), EINVAL);
    EXPECT_FALSE(info_of(handle).mapped);
}

TEST_F(map, is_made_once_at_a_time) {
    gpu_block const block = memory(1000);
    gdr_mh_t const handle = pinned(block.address, block.size);
    unsigned char* const va = mapped(handle);
    void* second = nullptr;
    EXPECT_EQ(gdr_map(g_, handle, &second, 8), EAGAIN);
    EXPECT_EQ(gdr_map_v2(g_, handle, &second, 8, 0), EAGAIN);
    expect_same_memory(handle, va + (block.address - info_of(handle).va), block);
    EXPECT_EQ(gdr_unmap(g_, handle, va, info_of(handle).mapped_size), 0);
    EXPECT_EQ(gdr_map(g_, handle, &second, 8), 0);
}

TEST_F(map, is_of_the_type_asked_for) {
    gdr_mh_t const handle = pinned(memory(1000).address, 1000);
    void* va = mapped(handle);
    int const given = info_of(handle).mapping_type;
    EXPECT_EQ(gdr_unmap(g_, handle, va, 8), 0);
    // Flags have their types' numbers.
    for (int const flag : {GDR_MAP_FLAG_REQ_WC_MAPPING, GDR_MAP_FLAG_REQ_CACHE_MAPPING,
                           GDR_MAP_FLAG_REQ_DEVICE_MAPPING}) {
        int const answer = gdr_map_v2(g_, handle, &va, 8, flag);
        if (flag == given) {
            EXPECT_EQ(answer, 0);
        }
        if (answer == 0) {
            EXPECT_EQ(info_of(handle).mapping_type, flag);
            EXPECT_EQ(gdr_unmap(g_, handle, va, 8), 0);
        } else {
            EXPECT_EQ(answer, EINVAL);
            EXPECT_FALSE(info_of(handle).mapped);
        }
    }
    for (int const flag : {-1, 4, 5, 1 << 30, static_cast<int>(1u << 31)})
        EXPECT_EQ(gdr_map_v2(g_, handle, &va, 8, flag), EINVAL) << flag;
    EXPECT_FALSE(info_of(handle).mapped);
}

TEST_F(map, is_undone_only_as_it_was_made) {
    gpu_block const block = memory(200000);
    gdr_mh_t const handle = pinned(block.address, block.size);
    char here = 0;
    EXPECT_EQ(gdr_unmap(g_, handle, &here, 8), EINVAL) << "not mapped";
    EXPECT_EQ(gdr_unmap(g_, handle, nullptr, 8), EINVAL) << "not mapped";
    unsigned char* const va = mapped(handle);
    std::size_t const all = info_of(handle).mapped_size;
    for (void* const wrong : std::array<void*, 4>{nullptr, &here, va + 1, va + 4096})
        EXPECT_EQ(gdr_unmap(g_, handle, wrong, all), EINVAL);
    for (std::size_t const wrong : {std::size_t{0}, all + 1, std::size_t{1} << 63, ~std::size_t{0}})
        EXPECT_EQ(gdr_unmap(g_, handle, va, wrong), EINVAL) << wrong;
    EXPECT_TRUE(info_of(handle).mapped);
    expect_same_memory(handle, va + (block.address - info_of(handle).va), block);
    EXPECT_EQ(gdr_unmap(g_, handle, va, all), 0);
    EXPECT_EQ(gdr_unmap(g_, handle, va, all), EINVAL) << "no longer mapped";
    gdr_info_t const info = info_of(handle);
    EXPECT_FALSE(info.mapped);
    EXPECT_FALSE(info.wc_mapping);
    EXPECT_EQ(info.mapping_type, GDR_MAPPING_TYPE_NONE);
}

TEST_F(map, goes_with_its_pin) {
    gpu_block const block = memory(1000);
    gdr_mh_t const first = pinned(block.address, 8), second = pinned(block.address, 8);
    holdings const before = holdings::now();
    gdr_mh_t const third = pinned(block.address, 8);
    unsigned char* const va = mapped(second);
    mapped(third);
    EXPECT_EQ(gdr_unpin_buffer(g_, third), 0);
    EXPECT_EQ(gdr_unpin_buffer(g_, first), 0);
    expect_same_memory(second, va + (block.address - info_of(second).va), block);
    EXPECT_EQ(gdr_unpin_buffer(g_, second), 0);
    EXPECT_LE(holdings::now().mappings, before.mappings);
    EXPECT_LE(holdings::now().files, before.files);
}

TEST_F(map, takes_neighbouring_chunks_as_one_range) {
    gpu_chunks const chunks = make_chunks(&cuda_, 3);
    gpu_block const all{chunks.address, chunks.chunk_size * chunks.count, 5};
    gdr_mh_t const handle = pinned(all.address, all.size);
    EXPECT_EQ(info_of(handle).mapped_size, all.size);
    expect_same_memory(handle, mapped(handle), all);
    gpu_block const seam{chunks.address + chunks.chunk_size - 50, 100, 6};
    gdr_mh_t const across = pinned(seam.address, seam.size);
    expect_same_memory(across, mapped(across) + (seam.address - info_of(across).va), seam);
    EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
    EXPECT_EQ(gdr_unpin_buffer(g_, across), 0);
    free_chunks(&cuda_, chunks);
}

using copy = semantics;

TEST_F(copy, is_refused_while_not_mapped) {
    gdr_mh_t const handle = pinned(memory(1000).address, 1000);
    char here = 0;
    EXPECT_EQ(gdr_copy_to_mapping(handle, &here, &here, 1), EINVAL);
    EXPECT_EQ(gdr_copy_from_mapping(handle, &here, &here, 1), EINVAL);
    unsigned char* const va = mapped(handle);
    EXPECT_EQ(gdr_copy_from_mapping(handle, &here, va, 1), 0);
    EXPECT_EQ(gdr_unmap(g_, handle, va, 8), 0);
    EXPECT_EQ(gdr_copy_to_mapping(handle, va, &here, 1), EINVAL);
    EXPECT_EQ(gdr_copy_from_mapping(handle, &here, va, 1), EINVAL);
}

// 0 says "not mapped" in many programs, and perhaps in the library.
TEST_F(copy, is_refused_for_handle_0) {
    gdr_mh_t const handle = pinned(memory(1000).address, 1000);
    unsigned char* const va = mapped(handle);
    unsigned char byte = 0;
    EXPECT_EQ(gdr_copy_from_mapping(no_handle, &byte, va, 1), EINVAL);
    EXPECT_EQ(gdr_copy_to_mapping(no_handle, va, &byte, 1), EINVAL);
    EXPECT_EQ(gdr_unmap(g_, handle, va, 8), 0);
    EXPECT_EQ(gdr_copy_from_mapping(no_handle, &byte, va, 1), EINVAL);
    EXPECT_EQ(gdr_copy_to_mapping(no_handle, va, &byte, 1), EINVAL);
}

TEST_F(copy, stays_inside_its_mapping) {
    gpu_block const block = memory(65536 * 3);
    gdr_mh_t const handle = pinned(block.address, block.size), other = pinned(block.address, 8);
    unsigned char* const va = mapped(handle);
    unsigned char* const elsewhere = mapped(other);
    std::size_t const all = info_of(handle).mapped_size;
    std::vector<unsigned char> bytes(all + 1);
    struct {
        unsigned char* address;
        std::size_t size;
    } const wrong[] = {{va - 1, 1},
                       {va - 1, 2},
                       {va + all, 1},
                       {va + all - 1, 2},
                       {va, all + 1},
                       {va, std::size_t{1} << 63},
                       {va + 1, ~std::size_t{0}},
                       {va + 64, ~std::size_t{0} - 63},
                       {elsewhere, 1},
                       {nullptr, 1},
                       {bytes.data(), 1}};
    for (auto const& [address, size] : wrong) {
        EXPECT_EQ(gdr_copy_to_mapping(handle, address, bytes.data(), size), EINVAL) << size;
        EXPECT_EQ(gdr_copy_from_mapping(handle, bytes.data(), address, size), EINVAL) << size;
    }
    EXPECT_EQ(gdr_copy_from_mapping(handle, bytes.data(), va, all), 0);
    EXPECT_EQ(gdr_copy_from_mapping(handle, bytes.data(), va + all - 1, 1), 0);
    EXPECT_EQ(gdr_copy_to_mapping(handle, va + all - 1, bytes.data(), 1), 0);
}

TEST_F(copy, needs_a_buffer) {
    gdr_mh_t const handle = pinned(memory(1000).address, 1000);
    unsigned char* const va = mapped(handle);
    EXPECT_EQ(gdr_copy_to_mapping(handle, va, nullptr, 8), EINVAL);
    EXPECT_EQ(gdr_copy_from_mapping(handle, nullptr, va, 8), EINVAL);
}

TEST_F(copy, of_nothing_is_nothing) {
    gpu_block const block = memory(1000);
    gdr_mh_t const handle = pinned(block.address, block.size);
    unsigned char* const va = mapped(handle);
    unsigned char byte = 9;
    EXPECT_EQ(gdr_copy_to_mapping(handle, va, &byte, 0), 0);
    EXPECT_EQ(gdr_copy_from_mapping(handle, &byte, va, 0), 0);
    EXPECT_EQ(gdr_copy_to_mapping(handle, nullptr, nullptr, 0), 0) << "wherever it is";
    EXPECT_EQ(gdr_copy_from_mapping(handle, nullptr, nullptr, 0), 0);
    EXPECT_EQ(byte, 9);
    require_untouched(&cuda_, block);
}

// All sizes and alignments of small copies, and what lies around them stays.
TEST_F(copy, touches_its_bytes_alone) {
    constexpr std::size_t room = 1024;
    gpu_block const block = memory(room, 3);
    gdr_mh_t const handle = pinned(block.address, room);
    unsigned char* const cpu = mapped(handle) + (block.address - info_of(handle).va);
    std::vector<unsigned char> expected(room), seen(room), bytes(room);
    fill_pattern(expected.data(), room, 3);
    for (std::size_t size = 1; size <= 200; size += size < 70 ? 1 : 13)
        for (std::size_t offset = 0; offset < 64; offset += 1 + offset % 3) {
            fill_pattern(bytes.data(), size, static_cast<unsigned>(size + offset));
            std::size_t const at = 128 + offset;
            ASSERT_EQ(gdr_copy_to_mapping(handle, cpu + at, bytes.data(), size), 0);
            memcpy(expected.data() + at, bytes.data(), size);
            memset(seen.data(), 0xcc, room);
            ASSERT_EQ(gdr_copy_from_mapping(handle, seen.data() + 1, cpu + at, size), 0);
            ASSERT_EQ(memcmp(seen.data() + 1, bytes.data(), size), 0) << size << " at " << offset;
            ASSERT_TRUE(seen[0] == 0xcc && seen[size + 1] == 0xcc) << size << " at " << offset;
        }
    require_cuda(cuda_.to_host(seen.data(), block.address, room), "cuMemcpyDtoH");
    EXPECT_EQ(seen, expected);
}

} // namespace
} // namespace barmap::dropin
