// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "transfer/batch_pieces.hpp"

/// Where the pieces of a batch go, and which are refused.
namespace barmap::contract {
namespace {

class batch_pieces_test : public testing::TestWithParam<char const*> {
protected:
    engine_machine machine_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(ways, batch_pieces_test, testing::Values("driver", "channel"),
                         [](auto const& info) { return std::string(info.param); });

// Every piece says by itself where it goes.
TEST_P(batch_pieces_test, pieces_of_one_batch_go_any_way) {
    batch_program p;
    auto const there = pattern(batch_program::size, 3), here = pattern(batch_program::size, 4);
    write_by_driver(p.block.address(), there);
    p.host.fill(here);
    std::uintptr_t const gpu = p.block.address(), host = p.host.address();
    std::vector<copy_piece> const list{{gpu + 4096, gpu, 1000},
                                       {host + 4096, gpu + 2048, 1000},
                                       {gpu + 8192, host + 2048, 1000},
                                       {host + 8192, host, 1000}};
    auto gpu_wanted = there, host_wanted = here;
    std::copy_n(there.begin(), 1000, gpu_wanted.begin() + 4096);
    std::copy_n(there.begin() + 2048, 1000, host_wanted.begin() + 4096);
    std::copy_n(here.begin() + 2048, 1000, gpu_wanted.begin() + 8192);
    std::copy_n(here.begin(), 1000, host_wanted.begin() + 8192);
    p.expect_done(p.queue.submit(list));
    EXPECT_TRUE(read_by_driver(gpu, batch_program::size) == gpu_wanted);
    EXPECT_TRUE(same_bytes(p.host.bytes(), host_wanted));
}

// The channel orders small pieces by their host addresses. That shows where many write one byte:
// the fake engine copies backwards what it finds in its ring, so that what the first one writes
// stays. It starts when it has the whole batch.
TEST(batch_channel_test, the_host_side_of_pieces_decides_their_order) {
    engine_machine machine("channel");
    batch_program p;
    constexpr std::size_t parts = 64, part = 4 * mib, count = 4096, begun_with = 544;
    pinned_block host{parts * part};
    device_block there{parts * part};
    auto const value = [](std::size_t number) {
        return std::vector<std::byte>{static_cast<std::byte>(number)};
    };
    auto const group = [&](std::size_t number) {
        return (host.address() + number * part) >> 22 & 255;
    };
    std::size_t lowest = 0;
    for (std::size_t i = 0; i < parts; ++i) {
        if (group(i) < group(lowest))
            lowest = i;
        host.bytes()[i * part] = value(i)[0];
        write_by_driver(there.address() + i * part, value(i));
    }
    auto const list = [](std::uintptr_t to, std::uintptr_t from) {
        std::vector<copy_piece> result;
        for (std::size_t i = 0; i < count; ++i)
            result.push_back({to + (i < begun_with ? 1 : 0), from + i * 7 % parts * part, 1});
        return result;
    };
    auto const copy = [&](std::uintptr_t to, std::uintptr_t from) {
        machine.gpu().stall();
        auto const submitted = p.queue.submit(list(to, from));
        machine.gpu().resume();
        p.expect_done(submitted);
    };
    copy(p.block.address(), host.address());
    EXPECT_EQ(read_by_driver(p.block.address(), 1), value(lowest));
    copy(p.host.address(), there.address());
    EXPECT_EQ(p.host.bytes()[0], value(begun_with * 7 % parts)[0]) << "as in the list";
}

/// A driver that knows these allocations, and no others.
struct told_allocations : changed_driver {
    told_allocations() {
        there.clear();
        calls = 0;
        (*this)->pointer_get_attributes = [](unsigned, int* names, void** values, CUdeviceptr at) {
            ++calls;
            EXPECT_EQ(names[0], cuda::pointer_memory_type);
            for (cuda::address_range const& each : there) {
                if (!each.holds(at))
                    continue;
                using enum cuda::memory_side;
                bool const is_peer = each.side == peer || each.side == apart;
                *static_cast<unsigned*>(values[0]) =
                    each.side == gpu || is_peer ? cuda::memory_type_device : cuda::memory_type_host;
                *static_cast<int*>(values[1]) = each.side == both;
                *static_cast<CUdeviceptr*>(values[2]) = each.begin;
                *static_cast<std::size_t*>(values[3]) = each.bytes;
                *static_cast<int*>(values[4]) = is_peer ? 1 : 0;
            }
            return cuda::success;
        };
        (*this)->pointer_get_attribute = [](void*, int name, CUdeviceptr at) {
            EXPECT_EQ(name, cuda::pointer_device_pointer);
            for (cuda::address_range const& each : there)
                if (each.holds(at) && each.side == cuda::memory_side::peer)
                    return cuda::success;
            return cuda::error_invalid_value;
        };
    }

    static inline std::vector<cuda::address_range> there;
    static inline int calls;
};

TEST(batch_pieces, the_first_piece_tells_which_way_a_batch_goes) {
    engine_machine machine("driver");
    (void)device::open(0); // loads the driver's table
    told_allocations driver;
    using enum cuda::memory_side;
    using engine::direction;
    cuda::address_ranges known(0);
    auto const way = [&](std::vector<copy_piece> const& list) { return way_of(list, known); };
    driver.there = {{0x1000, 0x1000, gpu},
                    {0x3000, 0x1000, host},
                    {0x10000, 0x1000, both},
                    {0x20000, 0x1000, peer},
                    {0x30000, 0x1000, apart}};
    EXPECT_EQ(way({{0x1010, 0x3000, 8}, {0x3100, 0x1000, 8}}), direction::to_gpu);
    EXPECT_EQ(way({{1, 2, 0}, {0x3ff0, 0x1ff0, 8}, {0x1010, 0x3000, 8}}), direction::to_cpu);
    EXPECT_EQ(driver.calls, 2) << "one for each allocation";
    EXPECT_EQ(way({}), direction::to_cpu);
    EXPECT_EQ(way({{0x10000, 0x3000, 8}}), direction::to_gpu);
    EXPECT_EQ(way({{0x10000, 0x1000, 8}}), direction::to_cpu);
    EXPECT_EQ(way({{0x1010, 0x50000, 8}}), direction::to_cpu) << "CUDA does not know it";
    EXPECT_EQ(way({{0x50000, 0x3010, 8}}), direction::to_gpu);
    // Copies that stay on one side.
    EXPECT_EQ(way({{0x1000, 0x1100, 8}}), direction::among_gpus);
    EXPECT_EQ(way({{0x3000, 0x3100, 8}}), direction::to_cpu);
    // Between GPUs: what is pushed goes out, what is pulled comes in.
    EXPECT_EQ(way({{0x20000, 0x1000, 8}}), direction::among_gpus);
    EXPECT_EQ(way({{0x1000, 0x20000, 8}}), direction::among_gpus);
    EXPECT_EQ(way({{0x3000, 0x20000, 8}}), direction::to_cpu);
    EXPECT_EQ(way({{0x1000, 0x30000, 8}}), direction::among_gpus);
    driver.calls = 0;
    EXPECT_EQ(way({{0x1010, 0x3000, 8}}), direction::to_gpu);
    EXPECT_EQ(way({{0x1010, 0x1100, 8}}), direction::among_gpus);
    EXPECT_EQ(way({{0x1010, 0x20000, 8}}), direction::among_gpus);
    EXPECT_EQ(driver.calls, 0) << "they stay remembered";
}

// Whichever side is other memory now, it is asked for once more, and remembered as that.
TEST(batch_pieces, memory_that_is_other_memory_now_is_asked_for_again) {
    engine_machine machine("driver");
    (void)device::open(0); // loads the driver's table
    using enum cuda::memory_side;
    using engine::direction;
    for (auto const before : {gpu, both}) {
        told_allocations driver;
        cuda::address_ranges known(0);
        auto const way = [&](std::vector<copy_piece> const& list) { return way_of(list, known); };
        driver.there = {{0x1000, 0x1000, before}, {0x3000, 0x1000, host}, {0x8000, 0x1000, gpu}};
        (void)way({{0x1000, 0x3000, 8}});
        (void)way({{0x8000, 0x3000, 8}});
        driver.there = {{0x0800, 0x2000, host}, {0x3000, 0x1000, host}, {0x8000, 0x1000, gpu}};
        EXPECT_EQ(way({{0x8000, 0x1010, 8}}), direction::to_gpu);
        EXPECT_EQ(known.find(0x0900).bytes, 0x2000u);
        driver.there = {{0x0800, 0x2000, gpu}, {0x3000, 0x1000, host}, {0x8000, 0x1000, gpu}};
        EXPECT_EQ(way({{0x1010, 0x3000, 8}}), direction::to_gpu);
        driver.calls = 0;
        EXPECT_EQ(way({{0x1010, 0x3000, 8}}), direction::to_gpu);
        EXPECT_EQ(driver.calls, 0);
    }
}

void expect_same(std::vector<copy_piece> const& seen, std::vector<copy_piece> const& wanted) {
    ASSERT_EQ(seen.size(), wanted.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i].to, wanted[i].to) << i;
        EXPECT_EQ(seen[i].from, wanted[i].from) << i;
        EXPECT_EQ(seen[i].bytes, wanted[i].bytes) << i;
    }
}

TEST(batch_pieces, large_ones_are_cut_and_empty_ones_left_out) {
    constexpr std::size_t most = engine::most_piece_bytes;
    constexpr std::uintptr_t there = 0x1'0000'0000'0000, here = 0x1000'0000'0000;
    EXPECT_TRUE(check(std::vector<copy_piece>{{there, here, most}}).are_plain);
    EXPECT_FALSE(check(std::vector<copy_piece>{{there, here, most + 1}}).are_plain);
    EXPECT_FALSE(check(std::vector<copy_piece>{{there, here, 0}}).are_plain);
    std::vector<copy_piece> const list{{there, here, 2 * most + 5}, {1, 2, 0}, {16, 32, 7}};
    EXPECT_EQ(check(list).bytes, 2 * most + 12);
    std::vector<copy_piece> const wanted{{there, here, most},
                                         {there + most, here + most, most},
                                         {there + 2 * most, here + 2 * most, 5},
                                         {16, 32, 7}};
    expect_same(plain(list), wanted);
}

TEST(batch_pieces, are_one_range_where_each_goes_on_on_both_sides) {
    auto const is_one = [](std::vector<copy_piece> const& list) { return check(list).is_one_range; };
    EXPECT_FALSE(is_one({}));
    EXPECT_TRUE(is_one({{1000, 5000, 100}}));
    EXPECT_TRUE(is_one({{1000, 5000, 100}, {1100, 5100, 0}, {1100, 5100, 50}}));
    EXPECT_FALSE(is_one({{1000, 5000, 100}, {1100, 5100, 50}, {1151, 5150, 9}}));
    EXPECT_FALSE(is_one({{1000, 5000, 100}, {1100, 5100, 50}, {1150, 5151, 9}}));
    EXPECT_FALSE(is_one({{1000, 5000, 100}, {1101, 5100, 50}, {1151, 5150, 9}}));
    EXPECT_FALSE(is_one({{1100, 5100, 50}, {1000, 5000, 100}})) << "in the other order";
}

TEST(batch_pieces, the_channel_copies_one_range_at_once) {
    engine_machine machine("channel");
    batch_program p;
    auto const copies_of = [&](std::vector<copy_piece> const& list) {
        auto const sent = pattern(batch_program::size, static_cast<unsigned>(list.size()));
        p.host.fill(sent);
        auto const before = machine.gpu().done().launches_of[own_engine];
        p.expect_done(p.queue.submit(list));
        for (copy_piece const& each : list)
            EXPECT_TRUE(same_bytes(
                read_by_driver(each.to, each.bytes),
                std::span(p.host.bytes()).subspan(each.from - p.host.address(), each.bytes)));
        return machine.gpu().done().launches_of[own_engine] - before;
    };
    std::vector<copy_piece> list;
    for (std::size_t i = 0; i < 100; ++i)
        list.push_back({p.block.address() + i * 64, p.host.address() + i * 64, 64});
    EXPECT_EQ(copies_of(list), 1u);
    std::swap(list[98].from, list[99].from);
    EXPECT_EQ(copies_of(list), 100u);
}

// What CUDA's own copies refuse names the piece, its side and its address.
TEST(batch_pieces, what_cuda_does_not_know_is_named) {
    engine_machine machine("driver");
    batch_program p;
    std::vector<std::byte> const pageable(4096);
    auto const there = reinterpret_cast<std::uintptr_t>(pageable.data());
    std::vector<copy_piece> list(3, {p.host.address(), p.block.address(), 8});
    auto const expect = [&](copy_piece bad, std::string_view words,
                            errc code = errc::unsupported_memory) {
        list[2] = bad;
        auto const refusal = refusal_of([&] { (void)p.queue.submit(list); });
        expect_refusal(refusal, code, "copy piece 2 of a batch");
        expect_refusal(refusal, code, words);
    };
    expect({there, p.block.address(), 8}, "at its `to`, 0x");
    expect({there, p.block.address(), 8}, "cudaHostRegister");
    expect({p.host.address(), there, 8}, "at its `from`, 0x");
    expect({p.host.address() + 8, p.block.address(), batch_program::size}, "bytes at `to`, 0x",
           errc::out_of_range);
    expect({p.host.address(), p.block.address() + 8, batch_program::size},
           "reach beyond the allocation, which ends at", errc::out_of_range);
    std::uintptr_t gone = 0;
    {
        device_block const freed(mib);
        gone = freed.address();
        list[2] = {p.host.address(), gone, 8};
        p.expect_done(p.queue.submit(list));
    }
    expect({p.host.address(), gone, 8}, "no live allocation");
}

// As rows of a pool that was made of several parts: each lies whole in one of them.
TEST_P(batch_pieces_test, pieces_that_touch_where_an_allocation_ends_are_copied) {
    constexpr std::size_t part = 64 * kib, piece = 4 * kib;
    batch_program p;
    std::vector<std::unique_ptr<device_block>> small; // which share a block
    for (int i = 0; i < 2; ++i)
        small.push_back(std::make_unique<device_block>(part));
    ASSERT_EQ(small[0]->address() + part, small[1]->address());
    virtual_block const chunks(0, {2 * mib, 2 * mib});
    std::vector<std::byte> memory(2 * part + 4 * kib);
    auto const pool =
        (reinterpret_cast<std::uintptr_t>(memory.data()) + 4 * kib - 1) & ~(4 * kib - 1);
    for (std::uintptr_t const half : {pool, pool + part})
        expect_success(cuda::api().mem_host_register(reinterpret_cast<void*>(half), part, 0));
    std::span<std::byte> const on_host(reinterpret_cast<std::byte*>(pool), 2 * part);
    for (std::uintptr_t const on_gpu : {small[0]->address(), chunks.address() + 2 * mib - part}) {
        std::vector<copy_piece> list;
        for (std::size_t at = 0; at < 2 * part; at += piece)
            list.push_back({on_gpu + at, pool + at, piece});
        auto const sent = pattern(2 * part, 90);
        std::ranges::copy(sent, on_host.begin());
        p.expect_done(p.queue.submit(list));
        EXPECT_TRUE(read_by_driver(on_gpu, part) == std::vector(sent.begin(), sent.begin() + part));
        EXPECT_TRUE(read_by_driver(on_gpu + part, part) ==
                    std::vector(sent.begin() + part, sent.end()));
        std::ranges::fill(on_host, std::byte{});
        p.expect_done(p.queue.submit(turned(list)));
        EXPECT_TRUE(std::ranges::equal(on_host, sent));
    }
    for (std::uintptr_t const half : {pool, pool + part})
        expect_success(cuda::api().mem_host_unregister(reinterpret_cast<void*>(half)));
}

// Pieces of one allocation cost no call of the driver each.
TEST_P(batch_pieces_test, the_driver_is_asked_of_allocations_and_not_of_pieces) {
    batch_program p;
    auto const list = p.pieces(1000, 1000);
    static std::atomic<int> calls;
    calls = 0;
    changed_driver counting;
    counting->pointer_get_attributes = [](unsigned count, int* names, void** values,
                                          CUdeviceptr at) {
        ++calls;
        return changed_driver::real.pointer_get_attributes(count, names, values, at);
    };
    p.expect_done(p.queue.submit(list));
    p.expect_done(p.queue.submit(list));
    EXPECT_LE(calls, 6);
}

} // namespace
} // namespace barmap::contract
