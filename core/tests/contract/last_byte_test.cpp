// SPDX-License-Identifier: MIT
#include "contract/engine_machine.hpp"
#include "contract/machine.hpp"
#include "map/backend.hpp"
#include "transfer/engine/cuda_addresses.hpp"
#include "transfer/engine/spin.hpp"
#include "transfer/engine/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <unistd.h>
#include <vector>

/// Every byte up to the last one: of memory and of pages that end anywhere, by mapping and by
/// engine.
namespace barmap::contract {
namespace {

class last_byte_test : public testing::TestWithParam<engine_way> {
protected:
    static constexpr std::size_t page = gpu_page_size;
    static constexpr std::size_t some = 40 * kib; ///< enough for an engine, both ways

    engine_machine machine_{GetParam().engine, GetParam().how};

    /// Expects the channel to have made so many copies. CUDA's copies may reach less of the memory.
    static void expect_by_engine(std::uint64_t expected, std::uint64_t copies) {
        if (GetParam().engine == std::string_view("channel")) {
            EXPECT_EQ(copies, expected);
        }
    }
    static engine_report report_of(device const& gpu) {
        for (engine_report const& each : gpu.engines())
            if (each.name == GetParam().engine)
                return each;
        return {};
    }

    /// Copies there and back.
    /// @return how many of the two copies the engine made
    static std::uint64_t round_trip(device const& gpu, mapping const& map, std::size_t offset,
                                    std::span<std::byte> host, unsigned seed) {
        std::uint64_t const before = report_of(gpu).copies;
        auto const sent = pattern(host.size(), seed), zeros = std::vector<std::byte>(host.size());
        write(map.window(offset, host.size()), zeros);
        std::memcpy(host.data(), sent.data(), sent.size());
        map.copy_to_gpu(offset, host);
        std::vector<std::byte> seen(host.size());
        read(seen, map.window(offset, host.size()));
        EXPECT_TRUE(seen == sent) << host.size() << " bytes at " << offset << ", to the GPU";
        std::memset(host.data(), 0, host.size());
        map.copy_to_cpu(host, offset);
        EXPECT_TRUE(same_bytes(host, sent)) << host.size() << " bytes at " << offset << ", back";
        engine_report const after = report_of(gpu);
        EXPECT_EQ(after.failures, 0u) << after.reason;
        return after.copies - before;
    }
    static std::uint64_t round_trip(device const& gpu, mapping const& map, std::size_t offset,
                                    std::size_t bytes, unsigned seed) {
        std::vector<std::byte> host(bytes);
        return round_trip(gpu, map, offset, host, seed);
    }
};

// The two engines; where memory ends, no generation differs from another.
std::vector<engine_way> one_way_of_each_engine() {
    std::vector<engine_way> result = held_ways();
    result.resize(2);
    return result;
}
INSTANTIATE_TEST_SUITE_P(ways, last_byte_test, over(one_way_of_each_engine()), name_of_way);

// An object of the driver ends at a multiple of 4 KiB, a pin of pages at one of 64 KiB.
TEST_P(last_byte_test, of_pins_of_pages_in_which_the_memory_ends) {
    if (::sysconf(_SC_PAGESIZE) > 4096)
        GTEST_SKIP() << "the simulated GPU has no such memory where the system's pages are larger";
    device const gpu = device::open(0);
    for (memory_kind const kind :
         {memory_kind::device, memory_kind::pool, memory_kind::pool_exportable})
        for (std::size_t const bytes :
             {2 * mib + 4, 3 * mib - 1, 2 * mib + page + kib, 4 * mib + page - 4 * kib + 1}) {
            SCOPED_TRACE(testing::Message() << to_string(kind) << " of " << bytes << " bytes");
            auto const memory = make_memory(kind, bytes);
            pin const pinned = device::from_pages(memory->address(), bytes)
                                   .pin(memory->address(), bytes, {.whole_pages = true});
            std::size_t const begin = memory->address() - pinned.gpu_address();
            std::size_t const end = begin + bytes;
            ASSERT_EQ(pinned.size() % page, 0u);
            ASSERT_GE(pinned.size(), end);
            mapping const map = pinned.map();
            ASSERT_EQ(map.size(), pinned.size());
            // By the mapping, all of it, also what lies behind the memory.
            auto const sent = pattern(map.size(), 1);
            write(map.window(), sent);
            std::vector<std::byte> seen(map.size());
            read(seen, map.window());
            EXPECT_TRUE(seen == sent);
            EXPECT_TRUE(same_bytes(read_by_driver(memory->address(), bytes),
                                   std::span(sent).subspan(begin, bytes)));
            // By the engine, what is the memory's, to its last byte.
            expect_by_engine(2, round_trip(gpu, map, begin, bytes, 2));
            expect_by_engine(2, round_trip(gpu, map, end - some - 1, some + 1, 3));
            // Of what lies behind it no engine copies more than there is.
            std::size_t const object_end = (end + 4095) / 4096 * 4096;
            expect_by_engine(2, round_trip(gpu, map, object_end - some, some, 4));
            bool const has_all = object_end >= map.size() || kind != memory_kind::device;
            if (!has_all)
                expect_by_engine(0, round_trip(gpu, map, object_end - some, some + 1, 5));
            expect_by_engine(has_all ? 2 : 0, round_trip(gpu, map, 0, map.size(), 6));
            EXPECT_EQ(report_of(gpu).state, backend_state::usable);
        }
}

// All in one object, between others' memory, which an engine of CUDA's does not copy.
TEST_P(last_byte_test, of_pages_with_small_allocations) {
    device const gpu = device::open(0);
    device_block const before(1000), between(some + 1), after(1000);
    std::uintptr_t const start = between.address() / page * page;
    if (start == between.address() || between.address() + some + 1 > start + page)
        GTEST_SKIP() << "the allocations do not share a page";
    pin const pinned =
        device::from_pages(between.address(), 1).pin(between.address(), 1, {.whole_pages = true});
    ASSERT_EQ(pinned.size(), page);
    mapping const map = pinned.map();
    std::size_t const begin = between.address() - start;
    expect_by_engine(2, round_trip(gpu, map, begin, some + 1, 1));
    expect_by_engine(2, round_trip(gpu, map, 0, page, 2));
    expect_by_engine(2, round_trip(gpu, map, begin - 1, some + 1, 3));
    expect_by_engine(2, round_trip(gpu, map, begin + 1, some + 1, 4));
}

// Bytes of one object in each page of a pin of several: the second starts where the first ends.
TEST_P(last_byte_test, of_pins_of_chunks_in_a_row) {
    device const gpu = device::open(0);
    virtual_block const chunks(0, {2 * mib, 2 * mib, 4 * mib});
    for (std::size_t const head : {std::size_t{0}, std::size_t{4099}})
        for (std::size_t const tail : {std::size_t{0}, std::size_t{77}}) {
            std::size_t const bytes = chunks.size() - head - tail;
            mapping const map = gpu.pin(chunks.address() + head, bytes).map();
            EXPECT_EQ(round_trip(gpu, map, 0, bytes, 1), 2u);
            EXPECT_EQ(round_trip(gpu, map, bytes - some, some, 2), 2u);
            EXPECT_EQ(round_trip(gpu, map, 2 * mib - head - some / 2, some, 3), 2u);
            EXPECT_TRUE(read_by_driver(chunks.address() + head, bytes).back() ==
                        read_value<std::byte>(map.window(bytes - 1, 1)));
        }
}

// As far as an odd place in a page, from one in another page: all of both pages is needed.
TEST_P(last_byte_test, of_registered_host_memory_that_is_not_aligned) {
    device const gpu = device::open(0);
    constexpr std::size_t most = 9 * mib; // of which an engine reaches 4 MiB at a time
    auto const block =
        make_memory(memory_kind::virtual_exportable, most + page); // which each engine holds
    mapping const map = gpu.pin(block->address(), most + page).map();
    auto const host_page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<std::byte> own(most + 4 * host_page);
    std::byte* const first =
        own.data() + host_page - reinterpret_cast<std::uintptr_t>(own.data()) % host_page;
    struct {
        std::size_t head, bytes;
    } const cases[] = {
        {host_page - 1, 16 * host_page + 2}, // the first byte of one page, and of the last
        {1, 16 * host_page},
        {host_page - 7, 4 * mib + 8},
        {77, most},
        {host_page / 2, most + host_page / 2 + 1},
    };
    unsigned seed = 1;
    for (auto const& each : cases) {
        SCOPED_TRACE(testing::Message() << each.bytes << " bytes at " << each.head);
        std::span const memory(first + each.head, each.bytes);
        expect_success(cuda::api().mem_host_register(memory.data(), memory.size(), 0));
        EXPECT_EQ(round_trip(gpu, map, 3, memory, ++seed), 2u);
        EXPECT_EQ(round_trip(gpu, map, 3, memory.last(some + 1), ++seed), 2u);
        EXPECT_EQ(round_trip(gpu, map, 3, memory.first(some + 1), ++seed), 2u);
        expect_success(cuda::api().mem_host_unregister(memory.data()));
    }
}

/// The held lane by itself: no mapping copies in its place what it does not reach.
TEST(held_lane_test, reaches_every_byte_of_pinned_memory_and_no_byte_of_its_neighbours) {
    engine_machine machine("channel");
    auto const lane = engine::registry().front().make(identify(0), engine::lane::held);
    lane->start();
    device_block const block(mib);
    auto const there = lane->reach(cuda::describe(block.address(), mib));
    auto const host_page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    pinned_block const host(8 * host_page);
    for (auto const& [head, bytes] : {std::pair{host_page - 1, host_page + 2},
                                      {std::size_t{0}, host_page},
                                      {std::size_t{5}, host_page},
                                      {host_page - 1, std::size_t{1}}}) {
        SCOPED_TRACE(testing::Message() << bytes << " bytes at " << head);
        auto const memory = host.bytes().subspan(head, bytes);
        auto const reached = lane->reach_pinned(memory);
        ASSERT_EQ(reached->runs.size(), 1u);
        EXPECT_EQ(reached->runs.front().at, 0u);
        EXPECT_EQ(reached->runs.front().bytes, bytes);
        auto const sent = pattern(8 * host_page, 1), zeros = std::vector<std::byte>(8 * host_page);
        write_by_driver(block.address(), sent);
        host.fill(zeros);
        copy_piece const all{reached->runs.front().address, there->runs.front().address, bytes};
        engine::ticket const number = lane->submit(engine::direction::to_cpu, {&all, 1}, bytes, {});
        ASSERT_EQ(
            engine::wait(*lane, number, engine::device_clock::now() + std::chrono::seconds(20)),
            engine::copy_outcome::done);
        EXPECT_TRUE(same_bytes(memory, std::span(sent).first(bytes)));
        EXPECT_TRUE(same_bytes(host.bytes().first(head), std::span(zeros).first(head)));
        EXPECT_TRUE(
            same_bytes(host.bytes().subspan(head + bytes), std::span(zeros).subspan(head + bytes)));
    }
}

// Of the last page of the first allocation, 56 KiB are nobody's; the second begins behind them.
TEST(held_lane_test, keeps_the_place_of_what_follows_a_page_that_is_not_full) {
    if (::sysconf(_SC_PAGESIZE) > 4096)
        GTEST_SKIP() << "the simulated GPU has no such memory where the system's pages are larger";
    constexpr std::size_t whole = 4 * mib, bytes = whole - 60 * kib + 5, held = whole - 56 * kib;
    engine_machine machine("channel");
    device_block const first(bytes), second(whole);
    cuda::memory both = cuda::describe_pages(first.address(), bytes);
    both.chunks.push_back(cuda::describe_pages(second.address(), whole).chunks.at(0));
    both.size = 2 * whole;
    auto const backend = backend::make_rm(identify(0));
    backend->start();
    auto const pinned = backend->pin(both);
    auto const lane = engine::registry().front().make(identify(0), engine::lane::held);
    lane->start();
    auto const reached = lane->reach_held(pinned->objects());
    auto const by_cuda = engine::reach_by_cuda(both);
    for (engine::reachable const* each : {reached.get(), by_cuda.get()}) {
        ASSERT_EQ(each->runs.size(), 2u);
        EXPECT_EQ(each->runs[0].at, 0u);
        EXPECT_EQ(each->runs[0].bytes, each == reached.get() ? held : bytes);
        EXPECT_EQ(each->runs[1].at, whole);
        EXPECT_EQ(each->runs[1].bytes, whole);
        EXPECT_TRUE(engine::covers(*each, 0, bytes));
        EXPECT_TRUE(engine::covers(*each, whole, whole));
        EXPECT_FALSE(engine::covers(*each, whole - 1, 2));
    }
    auto const mapped = pinned->map(std::nullopt, nullptr);
    auto const sent = pattern(whole, 1);
    write_by_driver(second.address(), sent);
    EXPECT_EQ(std::memcmp(mapped->data + whole, sent.data(), whole), 0);
}

} // namespace
} // namespace barmap::contract
