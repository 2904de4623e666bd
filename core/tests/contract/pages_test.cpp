// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"

#include <cstring>
#include <unistd.h>

/// Pins of whole GPU pages, as programs written for gdrcopy make them.
namespace barmap::contract {
namespace {

class pages_test : public contract_test {
protected:
    static constexpr std::size_t page = gpu_page_size;

    static pin pin_pages(std::uintptr_t address, std::size_t bytes) {
        return device::from_pages(address, bytes).pin(address, bytes, {.whole_pages = true});
    }

    /// The bytes at a GPU address, seen through a mapping of its pages.
    static std::byte* at(mapping const& map, pin const& pinned, std::uintptr_t address) {
        return map.data() + (address - pinned.gpu_address());
    }

    static void expect_reached(mapping const& map, pin const& pinned, std::uintptr_t address,
                               std::size_t bytes, unsigned seed) {
        auto const sent = pattern(bytes, seed);
        write(map.window(address - pinned.gpu_address(), bytes), sent);
        EXPECT_EQ(read_by_driver(address, bytes), sent);
    }
};

TEST_P(pages_test, a_range_is_rounded_out_to_whole_pages) {
    auto const block = some_memory(mib);
    std::uintptr_t const address = block->address() + 3 * page + 1000;
    pin const pinned = pin_pages(address, page);
    EXPECT_EQ(pinned.gpu_address(), block->address() + 3 * page);
    EXPECT_EQ(pinned.size(), 2 * page);
    mapping const map = pinned.map();
    EXPECT_EQ(map.size(), 2 * page);
    expect_same_memory(map, pinned.gpu_address(), 1);
    expect_reached(map, pinned, address, page, 2);
}

TEST_P(pages_test, small_allocations_in_one_page_are_all_reached) {
    if (!adopts(memory_kind::device))
        GTEST_SKIP() << "the backend does not adopt cudaMalloc memory";
    device_block const first(kib), second(kib), third(kib);
    std::uintptr_t const start = second.address() / page * page;
    if (first.address() / page * page != start || third.address() / page * page != start)
        GTEST_SKIP() << "the allocations do not share a page";
    auto const before = pattern(kib, 11), after = pattern(kib, 12);
    write_by_driver(first.address(), before);
    write_by_driver(third.address(), after);
    pin const pinned = pin_pages(second.address(), kib);
    EXPECT_EQ(pinned.gpu_address(), start);
    EXPECT_EQ(pinned.size(), page);
    mapping const map = pinned.map();
    expect_reached(map, pinned, second.address(), kib, 13);
    EXPECT_EQ(read_by_driver(first.address(), kib), before) << "a neighbour is left alone";
    EXPECT_EQ(read_by_driver(third.address(), kib), after);
    EXPECT_EQ(std::memcmp(at(map, pinned, first.address()), before.data(), kib), 0);
    EXPECT_EQ(std::memcmp(at(map, pinned, third.address()), after.data(), kib), 0);
}

TEST_P(pages_test, small_allocations_of_a_pool_in_one_page_are_all_reached) {
    if (!adopts(memory_kind::pool))
        GTEST_SKIP() << "the backend does not adopt memory of pools";
    auto const first = make_memory(memory_kind::pool, kib),
               second = make_memory(memory_kind::pool, kib);
    std::uintptr_t const start = second->address() / page * page;
    if (first->address() / page * page != start)
        GTEST_SKIP() << "the allocations do not share a page";
    auto const before = pattern(kib, 14);
    write_by_driver(first->address(), before);
    pin const pinned = pin_pages(second->address(), kib);
    EXPECT_EQ(pinned.gpu_address(), start);
    EXPECT_EQ(pinned.size(), page);
    mapping const map = pinned.map();
    expect_reached(map, pinned, second->address(), kib, 15);
    EXPECT_EQ(std::memcmp(at(map, pinned, first->address()), before.data(), kib), 0);
}

TEST_P(pages_test, the_caller_may_have_rounded_the_range_out_of_its_allocation) {
    if (!adopts(memory_kind::device))
        GTEST_SKIP() << "the backend does not adopt cudaMalloc memory";
    auto first = std::make_unique<device_block>(kib);
    device_block const second(kib);
    std::uintptr_t const start = second.address() / page * page;
    if (start == second.address())
        GTEST_SKIP() << "the allocation starts with its page";
    first.reset(); // so that nothing is at the start of the page
    pin const pinned = pin_pages(start, page);
    EXPECT_EQ(pinned.gpu_address(), start);
    mapping const map = pinned.map();
    expect_reached(map, pinned, second.address(), kib, 21);
}

TEST_P(pages_test, a_range_may_span_allocations_that_follow_each_other) {
    if (!adopts(memory_kind::device))
        GTEST_SKIP() << "the backend does not adopt cudaMalloc memory";
    device_block const first(page + kib), second(2 * page);
    std::uintptr_t const gap = second.address() - (first.address() + page + kib);
    if (second.address() < first.address() || gap >= page || second.address() % page == 0)
        GTEST_SKIP() << "the allocations do not follow each other in one page";
    pin const pinned = pin_pages(first.address(), second.address() + page - first.address());
    mapping const map = pinned.map();
    expect_reached(map, pinned, first.address(), page + kib, 31);
    expect_reached(map, pinned, second.address(), page, 32);
}

// Above 2 MiB the driver's objects end at multiples of 4 KiB, GPU pages at multiples of 64 KiB.
TEST_P(pages_test, the_first_and_the_last_page_of_odd_sizes_are_reached) {
    if (::sysconf(_SC_PAGESIZE) > 4096)
        GTEST_SKIP() << "the simulated GPU has no such memory where the system's pages are larger";
    if (!adopts(memory_kind::device))
        GTEST_SKIP() << "the backend does not adopt cudaMalloc memory";
    for (std::size_t const bytes : {2 * mib + 4, 4 * mib + 20, std::size_t{8'000'000}, 3 * mib - 1,
                                    2 * mib + page + kib, 5 * mib + page - 4 * kib}) {
        device_block const block(bytes);
        std::uintptr_t const last = block.address() + bytes - 1;
        pin const whole = pin_pages(block.address(), bytes), end = pin_pages(last, 1);
        EXPECT_EQ(whole.size(), (bytes + page - 1) / page * page);
        EXPECT_EQ(end.size(), page);
        std::size_t const held = last + 1 - end.gpu_address(); // by the last page
        mapping const all = whole.map(), tail = end.map();
        expect_reached(all, whole, block.address(), bytes, 41);
        expect_reached(tail, end, end.gpu_address(), held, 42);
        // What lies behind the memory is there too, as with GPUDirect RDMA.
        auto const sent = pattern(page, 43);
        write(tail.window(), sent);
        std::vector<std::byte> seen(page);
        read(seen, tail.window());
        EXPECT_EQ(seen, sent) << bytes;
        EXPECT_EQ(read_by_driver(end.gpu_address(), held),
                  std::vector(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(held)));
    }
}

TEST_P(pages_test, a_page_without_memory_is_refused) {
    auto const block = some_memory(mib);
    std::uintptr_t const behind = block->address() + (std::size_t{64} << 20);
    expect_refusal([&] { (void)pin_pages(behind, page); }, errc::unsupported_memory,
                   "CUDA does not know");
    expect_refusal([&] { (void)pin_pages(block->address(), (std::size_t{64} << 20) + page); },
                   errc::out_of_range, "the allocation ends");
    EXPECT_EQ(refusal_of([&] { (void)pin_pages(block->address(), 0); }).code,
              errc::invalid_argument);
    EXPECT_EQ(refusal_of([&] { (void)pin_pages(0, page); }).code, errc::invalid_argument);
    EXPECT_EQ(refusal_of([&] { (void)pin_pages(~std::uintptr_t{0} - 2, 2); }).code,
              errc::unsupported_memory);
    EXPECT_EQ(refusal_of([&] { (void)pin_pages(page, std::size_t{1} << 63); }).code,
              errc::unsupported_memory);
}

TEST_P(pages_test, a_kind_of_mapping_that_is_not_there_is_refused) {
    auto const block = some_memory(mib);
    pin const pinned = device::open(0).pin(block->address(), mib);
    cache_kind const kind = pinned.map().kind();
    mapping const same = pinned.map(kind);
    EXPECT_EQ(same.kind(), kind);
    refusal const seen = refusal_of([&] { (void)pinned.map(cache_kind::uncached); });
    EXPECT_TRUE(seen.code == errc::unsupported_operation ||
                seen.code == std::errc::invalid_argument)
        << seen.text;
}

TEST_P(pages_test, what_is_offered_is_what_is_usable) {
    std::vector<backend_report> const reports = device::probe(0);
    ASSERT_EQ(reports.size(), 1u) << "BARMAP_BACKEND allows one";
    EXPECT_EQ(reports.front().state, backend_state::usable) << reports.front().reason;
    EXPECT_EQ(reports.front().name, GetParam().backend);
}

TEST_P(pages_test, memory_is_not_taken_away) {
    auto const block = some_memory(mib);
    EXPECT_FALSE(device::open(0).pin(block->address(), mib).revoked());
    EXPECT_FALSE(pin().revoked());
}

BARMAP_OVER_NEWEST_WAYS(pages_test);

} // namespace
} // namespace barmap::contract
