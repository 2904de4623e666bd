// SPDX-License-Identifier: MIT
#include "semantics/fixture.hpp"

#include <set>

/// Pins, and what the library tells of them. The contract is that of gdrapi.h.
namespace barmap::dropin {
namespace {

using pin = semantics;

TEST_F(pin, starts_at_its_address_and_ends_with_a_page) {
    gpu_block const block = memory(300000);
    struct {
        std::uint64_t offset;
        std::size_t size;
    } const ranges[] = {{0, 1}, {0, 300000}, {5, 1}, {100000, 7}, {65535, 2}, {299999, 1}};
    for (auto const& [offset, size] : ranges) {
        std::uint64_t const address = block.address + offset;
        gdr_mh_t const handle = pinned(address, size);
        gdr_info_t const info = info_of(handle);
        EXPECT_EQ(info.va, address) << offset;
        EXPECT_EQ(info.mapped_size, next_page(address + size) - address) << offset;
        EXPECT_EQ(info.page_size, GPU_PAGE_SIZE);
        EXPECT_EQ(info.tm_cycles, 0u);
        EXPECT_EQ(info.cycles_per_ms, 0u);
        EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
    }
}

TEST_F(pin, is_told_in_both_generations) {
    gdr_mh_t const handle = pinned(memory(1000).address, 1000);
    for (bool const map : {false, true}) {
        if (map)
            mapped(handle);
        gdr_info_t const info = info_of(handle);
        EXPECT_EQ(info.mapped, map);
        EXPECT_EQ(info.mapping_type != GDR_MAPPING_TYPE_NONE, map);
        EXPECT_EQ(info.wc_mapping, info.mapping_type == GDR_MAPPING_TYPE_WC);
        struct {
            info_v1 info;
            std::uint64_t behind[4];
        } old;
        memset(&old, 0x77, sizeof old);
        EXPECT_EQ(get_info_v1(g_, handle, &old.info), 0);
        EXPECT_EQ(old.info.va, info.va);
        EXPECT_EQ(old.info.mapped_size, info.mapped_size);
        EXPECT_EQ(old.info.page_size, info.page_size);
        EXPECT_EQ(old.info.tm_cycles, 0u);
        EXPECT_EQ(old.info.cycles_per_ms, 0u);
        EXPECT_EQ(old.info.mapped, info.mapped);
        EXPECT_EQ(old.info.wc_mapping, info.wc_mapping);
        for (std::uint64_t const each : old.behind)
            EXPECT_EQ(each, 0x7777777777777777u);
    }
}

TEST_F(pin, refuses_sizes_that_no_allocation_has) {
    gpu_block const block = memory(1000);
    gdr_mh_t handle{77};
    for (std::size_t const size :
         {std::size_t{0}, std::size_t{1} << 40, std::size_t{1} << 63, ~std::size_t{0}}) {
        EXPECT_EQ(gdr_pin_buffer(g_, block.address, size, 0, 0, &handle), EINVAL) << size;
        EXPECT_EQ(gdr_pin_buffer_v2(g_, block.address, size, 0, &handle), EINVAL) << size;
    }
}

TEST_F(pin, refuses_addresses_that_CUDA_does_not_know) {
    std::vector<char> const ordinary(70000);
    gpu_block const freed = memory(8 << 20);
    release(freed);
    gdr_mh_t handle{};
    for (std::uint64_t const address :
         {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, freed.address,
          static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(ordinary.data()))}) {
        EXPECT_EQ(gdr_pin_buffer(g_, address, 8, 0, 0, &handle), EINVAL) << std::hex << address;
        EXPECT_EQ(gdr_pin_buffer_v2(g_, address, 8, 0, &handle), EINVAL) << std::hex << address;
    }
}

TEST_F(pin, refuses_null_pointers) {
    gpu_block const block = memory(1000);
    gdr_mh_t handle{};
    EXPECT_EQ(gdr_pin_buffer(g_, block.address, 8, 0, 0, nullptr), EINVAL);
    EXPECT_EQ(gdr_pin_buffer_v2(g_, block.address, 8, 0, nullptr), EINVAL);
    EXPECT_EQ(gdr_pin_buffer(nullptr, block.address, 8, 0, 0, &handle), EINVAL);
    EXPECT_EQ(gdr_pin_buffer_v2(nullptr, block.address, 8, 0, &handle), EINVAL);
}

TEST_F(pin, refuses_memory_that_no_backend_maps) {
    std::uint64_t managed = 0;
    void* host = nullptr;
    require_cuda(cuda_.mem_alloc_managed(&managed, 4096, 1), "cuMemAllocManaged");
    require_cuda(cuda_.mem_host_alloc(&host, 4096, 0), "cuMemHostAlloc");
    gdr_mh_t handle{};
    for (std::uint64_t const address :
         {managed, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(host))}) {
        EXPECT_EQ(gdr_pin_buffer(g_, address, 8, 0, 0, &handle), ENOTSUP);
        EXPECT_EQ(gdr_pin_buffer_v2(g_, address, 8, 0, &handle), ENOTSUP);
    }
    require_cuda(cuda_.mem_free_host(host), "cuMemFreeHost");
    require_cuda(cuda_.mem_free(managed), "cuMemFree");
}

TEST_F(pin, takes_known_flags_and_refuses_others) {
    gpu_block const block = memory(1000);
    gdr_mh_t handle{};
    for (std::uint32_t const flags : {2u, 3u, 4u, 0x80000000u, ~0u})
        EXPECT_EQ(gdr_pin_buffer_v2(g_, block.address, 8, flags, &handle), EINVAL) << flags;
    EXPECT_EQ(gdr_pin_buffer_v2(g_, block.address, 8, GDR_PIN_FLAG_FORCE_PCIE, &handle),
              is_coherent(&cuda_) ? 0 : EINVAL);
    EXPECT_EQ(gdr_pin_buffer_v2(g_, block.address, 8, GDR_PIN_FLAG_DEFAULT, &handle), 0);
}

// Tokens of old drivers: whatever they are, they change nothing here.
TEST_F(pin, ignores_tokens) {
    gdr_mh_t handle{};
    EXPECT_EQ(gdr_pin_buffer(g_, memory(1000).address, 8, ~0ull, ~0u, &handle), 0);
}

TEST_F(pin, gives_a_handle_of_its_own_each_time) {
    gpu_block const block = memory(1000);
    std::set<unsigned long> seen;
    for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(seen.insert(pinned(block.address, 8).h).second);
}

TEST_F(pin, has_no_use_after_unpin) {
    gdr_mh_t const handle = pinned(memory(1000).address, 1000);
    EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
    EXPECT_EQ(gdr_unpin_buffer(g_, handle), EINVAL);
    gdr_info_t info{};
    info_v1 old{};
    int flag = 0;
    void* va = nullptr;
    char byte = 0;
    for (gdr_mh_t const each : {handle, no_handle, gdr_mh_t{12345}, gdr_mh_t{~0ul}}) {
        EXPECT_EQ(gdr_unpin_buffer(g_, each), EINVAL);
        EXPECT_EQ(gdr_get_info(g_, each, &info), EINVAL);
        EXPECT_EQ(get_info_v1(g_, each, &old), EINVAL);
        EXPECT_EQ(gdr_get_callback_flag(g_, each, &flag), EINVAL);
        EXPECT_EQ(gdr_map(g_, each, &va, 8), EINVAL);
        EXPECT_EQ(gdr_map_v2(g_, each, &va, 8, 0), EINVAL);
        EXPECT_EQ(gdr_unmap(g_, each, &byte, 8), EINVAL);
        EXPECT_EQ(gdr_copy_to_mapping(each, &byte, &byte, 1), EINVAL);
        EXPECT_EQ(gdr_copy_from_mapping(each, &byte, &byte, 1), EINVAL);
    }
}

TEST_F(pin, belongs_to_its_session) {
    gdr_t const other = gdr_open();
    ASSERT_NE(other, nullptr);
    gdr_mh_t const handle = pinned(memory(1000).address, 1000);
    gdr_info_t info{};
    void* va = nullptr;
    EXPECT_EQ(gdr_get_info(other, handle, &info), EINVAL);
    EXPECT_EQ(gdr_map(other, handle, &va, 8), EINVAL);
    EXPECT_EQ(gdr_unpin_buffer(other, handle), EINVAL);
    EXPECT_EQ(gdr_close(other), 0);
    EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
}

TEST_F(pin, tells_that_nothing_was_taken_away) {
    gpu_block const block = memory(4 << 20);
    gdr_mh_t const handle = pinned(block.address, block.size);
    int flag = 77;
    EXPECT_EQ(gdr_get_callback_flag(g_, handle, &flag), 0);
    EXPECT_EQ(flag, 0);
    release(block);
    flag = 77;
    EXPECT_EQ(gdr_get_callback_flag(g_, handle, &flag), 0);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(gdr_get_callback_flag(g_, handle, nullptr), EINVAL);
    EXPECT_EQ(gdr_get_info(g_, handle, nullptr), EINVAL);
    EXPECT_EQ(get_info_v1(g_, handle, nullptr), EINVAL);
}

// Whichever call of the driver fails for want of memory, the pin answers an errno and leaves
// nothing.
TEST_F(pin, leaves_nothing_when_the_driver_refuses) {
    auto const fail_call =
        reinterpret_cast<void (*)(unsigned, int)>(holdings::of_the_simulation("barmap_sim_fail"));
    if (!fail_call)
        GTEST_SKIP() << "only the simulated GPU fails on demand";
    gpu_block const block = memory(1000);
    EXPECT_EQ(gdr_unpin_buffer(g_, pinned(block.address, 8)), 0);
    holdings const before = holdings::now();
    constexpr int out_of_memory = 2;
    bool told = false, done = false;
    for (unsigned i = 1; i < 100 && !done; ++i) {
        gdr_mh_t handle{};
        auto const calls_made =
            reinterpret_cast<unsigned (*)()>(holdings::of_the_simulation("barmap_sim_calls"));
        unsigned const calls_before = calls_made();
        fail_call(i, out_of_memory);
        int const answer = gdr_pin_buffer(g_, block.address, 8, 0, 0, &handle);
        fail_call(0, 0);
        EXPECT_GE(answer, 0);
        EXPECT_LE(answer, 133) << "an errno";
        told = told || answer == ENOMEM;
        done = calls_made() - calls_before < i; // none is left to fail
        if (answer == 0) {
            EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
        }
        EXPECT_EQ(holdings::now(), before) << "call " << i;
    }
    EXPECT_TRUE(done);
    EXPECT_TRUE(told) << "ENOMEM for CUDA_ERROR_OUT_OF_MEMORY";
}

} // namespace
} // namespace barmap::dropin
