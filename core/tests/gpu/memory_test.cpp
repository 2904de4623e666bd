// SPDX-License-Identifier: MIT
#include "real_gpu.hpp"

#include <thread>

namespace barmap::gpu_test {
namespace {

using memory_test = real_gpu;

TEST_F(memory_test, every_place_inside_an_allocation_can_be_mapped) {
    device const gpu = device::open(0);
    device_block const block(8 * mib);
    unsigned seed = 1;
    for (std::size_t const offset : {0u, 1u, 63u, 4095u, 65537u, 3000001u})
        for (std::size_t const bytes :
             {std::size_t{1}, std::size_t{7}, std::size_t{4097}, mib + 1}) {
            mapping const map = gpu.pin(block.address() + offset, bytes).map();
            expect_same_memory(map, block.address() + offset, seed++);
        }
}

// Above 2 MiB the driver's memory objects end at multiples of 4 KiB, pins of whole pages do not.
TEST_F(memory_test, the_first_and_the_last_page_of_odd_sizes_are_reached) {
    constexpr std::size_t odd_step = 64 * 1024 + 4099, page = gpu_page_size;
    device const gpu = device::open(0);
    unsigned seed = 1;
    for (std::size_t bytes = 2 * mib + 1; bytes <= 64 * mib; bytes += odd_step) {
        device_block const block(bytes);
        pin const pinned = gpu.pin(block.address(), bytes, {.whole_pages = true});
        ASSERT_EQ(pinned.size(), (bytes + page - 1) / page * page);
        mapping const map = pinned.map();
        std::size_t const last = (bytes - 1) / page * page;
        for (auto const& [offset, held] : {std::pair{std::size_t{0}, page}, {last, bytes - last}}) {
            std::vector<std::byte> const sent = pattern(held, seed++);
            std::vector<std::byte> seen(held);
            write(map.window(offset, held), sent);
            expect_success(cu().memcpy_dtoh(seen.data(), block.address() + offset, held));
            ASSERT_EQ(seen, sent) << bytes << " at " << offset;
            std::vector<std::byte> const answer = pattern(held, seed++);
            write_by_driver(block.address() + offset, answer.data(), held);
            expect_success(cu().ctx_synchronize()); // a small copy is only on its way by then
            read(seen, map.window(offset, held));
            ASSERT_EQ(seen, answer) << bytes << " at " << offset;
        }
        // Up to the end of the last page, whatever is there.
        std::vector<std::byte> rest(page);
        read(rest, map.window(last, page));
        write(map.window(last, page), rest);
    }
}

TEST_F(memory_test, neighbours_in_one_page_keep_apart) {
    device const gpu = device::open(0);
    device_block const left(1024), right(1024);
    mapping const left_map = gpu.pin(left.address(), 1024).map();
    mapping const right_map = gpu.pin(right.address(), 1024).map();
    std::vector<std::byte> const in_left = pattern(1024, 1), in_right = pattern(1024, 2);
    write(left_map.window(), in_left);
    write(right_map.window(), in_right);
    std::vector<std::byte> seen(1024);
    expect_success(cu().memcpy_dtoh(seen.data(), left.address(), 1024));
    EXPECT_EQ(seen, in_left);
    expect_success(cu().memcpy_dtoh(seen.data(), right.address(), 1024));
    EXPECT_EQ(seen, in_right);
}

TEST_F(memory_test, contiguous_chunks_become_one_cpu_range) {
    device const gpu = device::open(0);
    virtual_block const block(0, std::vector(5, 2 * mib));
    expect_same_memory(gpu.pin(block.address(), block.size()).map(), block.address(), 3);
    std::uintptr_t const inside = block.address() + 3 * mib + 5;
    expect_same_memory(gpu.pin(inside, 4 * mib + 77).map(), inside, 4);
}

TEST_F(memory_test, a_thread_without_a_context_can_pin) {
    device const gpu = device::open(0);
    device_block const block(mib);
    virtual_block const chunks(0, {2 * mib, 2 * mib});
    mapping first, second;
    std::thread([&] {
        CUcontext current = nullptr;
        expect_success(cu().ctx_get_current(&current));
        EXPECT_EQ(current, nullptr);
        first = gpu.pin(block.address(), mib).map();
        second = gpu.pin(chunks.address(), chunks.size()).map();
        expect_success(cu().ctx_get_current(&current));
        EXPECT_EQ(current, nullptr) << "the thread's context must be put back";
    }).join();
    expect_same_memory(first, block.address(), 5);
    expect_same_memory(second, chunks.address(), 6);
}

TEST_F(memory_test, what_cannot_be_adopted_is_refused_by_kind) {
    device const gpu = device::open(0);
    auto const refusal = [&](std::uintptr_t address) {
        return code_of([&] { (void)gpu.pin(address, 4096); });
    };
    managed_block const managed(mib);
    pinned_block const host(mib);
    external_block const external(2 * mib);
    std::vector<std::byte> const ordinary(8192);
    EXPECT_EQ(refusal(managed.address()), errc::unsupported_memory);
    EXPECT_EQ(refusal(host.address()), errc::unsupported_memory);
    EXPECT_EQ(refusal(external.address()), errc::unsupported_memory);
    EXPECT_EQ(refusal(reinterpret_cast<std::uintptr_t>(ordinary.data())), errc::unsupported_memory);
    device_block freed(8 * mib);
    std::uintptr_t const was = freed.address();
    freed.release();
    EXPECT_EQ(refusal(was), errc::unsupported_memory);
}

// By what libcuda itself tells the kernel driver of it.
TEST_F(memory_test, memory_that_nothing_but_an_export_names) {
    using from = pool_block::from;
    device const gpu = device::open(0);
    virtual_block const opaque(0, std::vector(5, 2 * mib), cuda::handle_type_none);
    pool_block const first(700, from::the_default_pool), second(700, from::the_default_pool),
        large(100 * mib, from::the_default_pool), last(5 * mib, from::the_default_pool),
        exportable(5 * mib, from::a_pool_with_fd_handles);
    unsigned seed = 1;
    for (auto const& [address, bytes] :
         std::initializer_list<std::pair<std::uintptr_t, std::size_t>>{
             {opaque.address(), 10 * mib},
             {opaque.address() + 2 * mib - 5, 4 * mib + 77},
             {first.address(), 700},
             {second.address(), 700},
             {large.address(), 100 * mib},
             {large.address() + 30 * mib + 1, 4 * mib},
             {large.address() + 31 * mib - 3, 34 * mib},
             {last.address() + mib + 5, 3 * mib},
             {exportable.address() + 4097, mib}}) {
        SCOPED_TRACE(std::to_string(seed));
        pin const held = gpu.pin(address, bytes);
        EXPECT_EQ(held.size(), bytes);
        expect_same_memory(held.map(), address, seed++);
    }
}

TEST_F(memory_test, events_are_refused_where_nothing_tells_of_them) {
    device const gpu = device::open(0);
    for (backend_report const& backend : gpu.backends())
        if (backend.events)
            GTEST_SKIP() << backend.name << " has events";
    device_block const block(mib);
    EXPECT_EQ(code_of([&] { (void)gpu.pin(block.address(), mib, {.events = true}); }),
              errc::unsupported_operation);
}

TEST_F(memory_test, a_range_past_the_end_or_of_no_size_is_refused) {
    device const gpu = device::open(0);
    device_block const block(mib);
    virtual_block const chunks(0, {2 * mib, 2 * mib});
    EXPECT_EQ(code_of([&] { (void)gpu.pin(block.address(), 0); }), errc::invalid_argument);
    EXPECT_EQ(code_of([&] { (void)gpu.pin(block.address() + mib - 8, 9); }), errc::out_of_range);
    EXPECT_EQ(code_of([&] { (void)gpu.pin(chunks.address() + 1, chunks.size()); }),
              errc::out_of_range);
}

} // namespace
} // namespace barmap::gpu_test
