// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "shared/in_child.hpp"
#include "system/region.hpp"

#include <limits>
#include <numeric>

/// What batches promise (core/include/barmap/batch_queue.hpp), over what copies them: channels in CUDA's
/// address space on the fake of NVIDIA's kernel driver, and CUDA's own copies.
namespace barmap::contract {
namespace {

class batch_test : public testing::TestWithParam<engine_way> {
protected:
    engine_machine machine_{GetParam().engine, GetParam().how};
};

std::vector<engine_way> batch_ways() {
    return {{"driver", "driver", {}}, {"channel", "channel", {}}};
}
INSTANTIATE_TEST_SUITE_P(ways, batch_test, over(batch_ways()), name_of_way);

/// Other structures of the driver's, and another generation's classes: the copies are the same.
std::vector<engine_way> other_series() {
    return {{"hopper_535", "channel", {.series = 535}},
            {"blackwell_610", "channel", {.series = 610, .chip = "GB100"}}};
}
class batch_series_test : public batch_test {};
INSTANTIATE_TEST_SUITE_P(ways, batch_series_test, over(other_series()), name_of_way);

TEST_P(batch_series_test, moves_pieces_in_the_order_of_streams) {
    batch_program p;
    ASSERT_EQ(p.queue.engine(), "channel");
    p.expect_to_work(1, 165, 1000);
    gated_stream stream;
    auto const list = p.pieces(100, 600);
    auto const there = pattern(batch_program::size, 8);
    pinned_block const source(batch_program::size);
    source.fill(there);
    std::memset(p.host.bytes().data(), 0, batch_program::size);
    stream.copy(p.block.address(), source.address(), batch_program::size);
    batch_ticket const ticket = p.queue.submit(list, after{stream.get()}, then{stream.get()});
    EXPECT_FALSE(p.queue.wait(ticket, 20ms));
    stream.open();
    stream.synchronize();
    EXPECT_TRUE(p.queue.done(ticket));
    EXPECT_TRUE(same_bytes(p.host.bytes(),
                           p.host_after(list, std::vector<std::byte>(batch_program::size), there)));
}

TEST_P(batch_test, moves_scattered_pieces_and_nothing_else) {
    batch_program p;
    EXPECT_EQ(p.queue.engine(), GetParam().engine);
    for (std::size_t const count : {1, 2, 31, 32, 33, 160, 165, 1000})
        p.expect_to_work(static_cast<unsigned>(count), count, 1000);
    p.expect_to_work(7, 5000, 200);
    EXPECT_GE(p.report(GetParam().engine).copies, 18u);
    EXPECT_GE(p.report(GetParam().engine).bytes, 100u);
}

TEST_P(batch_test, takes_empty_lists_and_empty_pieces) {
    batch_program p;
    EXPECT_EQ(p.queue.submit({}), batch_ticket{});
    EXPECT_TRUE(p.queue.done({}));
    EXPECT_TRUE(p.queue.wait({}, 0s));
    std::vector<copy_piece> list(3);
    list[1] = {p.host.address(), p.block.address(), 5};
    auto const there = pattern(batch_program::size, 3);
    write_by_driver(p.block.address(), there);
    p.expect_done(p.queue.submit(list));
    EXPECT_TRUE(std::equal(there.begin(), there.begin() + 5, p.host.bytes().begin()));
    EXPECT_EQ(p.host.bytes()[5], std::byte{});
    p.expect_done(p.queue.submit(std::vector<copy_piece>(3))); // nothing of it is copied
}

TEST_P(batch_test, reaches_every_kind_of_memory_that_CUDA_has) {
    batch_program p;
    auto const sent = pattern(64 * kib, 5);
    p.host.fill(sent);
    for (memory_kind const kind : kinds_of_device_memory) {
        auto const memory = make_memory(kind, 64 * kib);
        std::vector<copy_piece> const list{{p.host.address() + 7, memory->address() + 7, 60000}};
        p.expect_done(p.queue.submit(turned(list)));
        auto const seen = read_by_driver(memory->address() + 7, 60000);
        EXPECT_TRUE(std::equal(seen.begin(), seen.end(), sent.begin() + 7))
            << static_cast<int>(kind);
    }
    // Memory of the program's that CUDA has registered.
    os::region const pages = os::region::shared_memory(64 * kib);
    expect_success(cuda::api().mem_host_register(pages.data(), pages.size(), 0));
    std::vector<copy_piece> const list{
        {reinterpret_cast<std::uintptr_t>(pages.data()) + 2, p.block.address() + 1, 5000}};
    write_by_driver(p.block.address(), sent);
    p.expect_done(p.queue.submit(list));
    EXPECT_TRUE(std::equal(sent.begin() + 1, sent.begin() + 5001, pages.data() + 2));
    expect_success(cuda::api().mem_host_unregister(pages.data()));
    // And the library's own.
    host_buffer const own = p.gpu.allocate_host(5000);
    p.expect_done(p.queue.submit(std::vector<copy_piece>{
        {reinterpret_cast<std::uintptr_t>(own.data()), p.block.address(), 5000}}));
    EXPECT_TRUE(std::equal(sent.begin(), sent.begin() + 5000, own.data()));
}

TEST_P(batch_test, is_refused_where_cuda_registers_no_memory) {
    pins_only_its_own const refusing;
    error const failure = caught([] { (void)device::open(0).batch_queue(); });
    EXPECT_NE(std::string_view(failure.what()).find("this engine cannot be used on it"),
              std::string_view::npos)
        << failure.what();
}

TEST_P(batch_test, sees_what_was_written_through_a_mapping) {
    batch_program p;
    mapping map = p.gpu.pin(p.block.address(), 4096).map();
    for (unsigned i = 0; i < 200; ++i) {
        auto const sent = pattern(64, i);
        write(map.window(0, 64), sent);
        p.expect_done(
            p.queue.submit(std::vector<copy_piece>{{p.host.address(), p.block.address(), 64}}));
        ASSERT_TRUE(std::equal(sent.begin(), sent.end(), p.host.bytes().begin()));
        p.host.fill(pattern(64, i + 1000));
        p.expect_done(
            p.queue.submit(std::vector<copy_piece>{{p.block.address(), p.host.address(), 64}}));
        std::vector<std::byte> seen(64);
        read(seen, map.window(0, 64));
        ASSERT_TRUE(seen == pattern(64, i + 1000));
    }
}

TEST_P(batch_test, refuses_what_cannot_be_meant) {
    batch_program p;
    std::uintptr_t const gpu = p.block.address(), host = p.host.address();
    constexpr auto top = std::numeric_limits<std::uintptr_t>::max();
    auto const refused = [&](copy_piece bad, std::string_view words) {
        p.host.fill(pattern(100, 1));
        std::vector<copy_piece> const list{{host + 200, gpu, 5}, bad};
        expect_refusal([&] { (void)p.queue.submit(list); }, errc::invalid_argument, words);
        EXPECT_EQ(p.host.bytes()[200], std::byte{}) << "nothing is copied";
    };
    write_by_driver(gpu, pattern(4096, 9));
    refused({0, host, 5}, "piece 1");
    refused({0, host, 5}, "its `to` is null");
    refused({gpu, 0, 5}, "its `from` is null");
    refused({top - 3, host, 5}, "57 bits");
    refused({gpu, top - 3, 5}, "57 bits");
    constexpr std::uintptr_t end = std::uintptr_t{1} << 57;
    refused({gpu, end - 4, 8}, "its 8 bytes at `from`, 0x1fffffffffffffc, do not lie in");
    refused({end - 4, host, 8}, "its 8 bytes at `to`, 0x1fffffffffffffc, do not lie in");
    refused({host, gpu, top}, "57 bits");
    refused({std::uintptr_t{1} << 57, host, 1}, "57 bits");
    expect_refusal([&] { (void)p.queue.done(batch_ticket{77}); }, errc::invalid_argument,
                   "a ticket of this GPU's batch queue");
    expect_refusal([&] { (void)p.queue.wait(batch_ticket{std::uint64_t{9} << 56}, 1s); },
                   errc::invalid_argument, "a ticket of this GPU's batch queue");
    p.expect_to_work(2);
}

TEST_P(batch_test, a_forked_child_is_refused_and_may_only_drop_it) {
    batch_program p;
    p.expect_to_work(1);
    std::vector<copy_piece> const list{{p.host.address(), p.block.address(), 5}};
    batch_ticket const ticket = p.queue.submit(list);
    EXPECT_EQ(in_child(0,
                       [&] {
                           auto const is_refused = [](auto action) {
                               try {
                                   action();
                               } catch (error const& failure) {
                                   return failure.code() == errc::forked_child;
                               }
                               return false;
                           };
                           if (!is_refused([&] { (void)p.queue.submit(list); }) ||
                               !is_refused([&] { (void)p.queue.done(ticket); }) ||
                               !is_refused([&] { (void)p.queue.wait(ticket, 1s); }) ||
                               !is_refused([&] { (void)p.queue.engine(); }) ||
                               !is_refused([&] { (void)p.queue.reports(); }) ||
                               !is_refused([&] { (void)p.gpu.batch_queue(); }))
                               ::_exit(1);
                           p.queue = batch_queue(p.queue);
                       }),
              0);
    p.expect_done(ticket);
}

TEST_P(batch_test, all_handles_share_one_engine_which_goes_with_the_last) {
    {
        batch_program first; // what CUDA keeps after its first use
    }
    fake::left_over const before = machine_->held();
    {
        batch_program p;
        batch_queue const other = p.gpu.batch_queue();
        batch_ticket const ticket = p.queue.submit(p.pieces(10, 100));
        EXPECT_TRUE(other.wait(ticket, 20s));
        EXPECT_EQ(other.reports().size(), 1u);
        open_stream stream;
        (void)p.queue.submit(p.pieces(10, 100), after{stream.get()}, then{stream.get()});
        stream.synchronize();
    }
    EXPECT_EQ(machine_->held(), before);
}

// So that nothing comes to memory that the program gives back then.
TEST_P(batch_test, nothing_arrives_after_its_end) {
    device const gpu = device::open(0);
    device_block const block(mib);
    pinned_block const host(mib);
    write_by_driver(block.address(), pattern(mib, 3));
    for (unsigned round = 0; round < 20; ++round) {
        std::vector<copy_piece> list;
        for (std::size_t at = 0; at < mib; at += 1024)
            list.push_back({host.address() + at, block.address() + at, 1000});
        {
            batch_queue queue = gpu.batch_queue();
            (void)queue.submit(list);
        }
        std::memset(host.bytes().data(), 0x33, mib);
        std::this_thread::sleep_for(5ms);
        ASSERT_TRUE(std::ranges::all_of(host.bytes(),
                                        [](std::byte each) { return each == std::byte{0x33}; }));
    }
}

// Else a stream would go on without the bytes that it waits for.
TEST_P(batch_test, the_last_handle_waits_for_what_is_under_way) {
    device const gpu = device::open(0);
    device_block const block(mib);
    pinned_block const host(mib);
    auto const there = pattern(mib, 5);
    write_by_driver(block.address(), there);
    gated_stream stream;
    std::optional<batch_queue> queue = gpu.batch_queue();
    (void)queue->submit(std::vector<copy_piece>{{host.address(), block.address(), mib}},
                        after{stream.get()}, then{stream.get()});
    std::thread closer([&] { queue.reset(); });
    std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(stream.is_idle());
    stream.open();
    stream.synchronize();
    EXPECT_TRUE(same_bytes(host.bytes(), there));
    closer.join();
}

TEST_P(batch_test, threads_may_submit_and_wait_at_once) {
    batch_program p;
    constexpr std::size_t threads = 4, part = batch_program::size / threads;
    auto const there = pattern(batch_program::size, 8);
    write_by_driver(p.block.address(), there);
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            for (int round = 0; round < 20; ++round) {
                std::vector<copy_piece> list;
                for (std::size_t at = t * part; at + 1000 < (t + 1) * part; at += 5000)
                    list.push_back({p.host.address() + at, p.block.address() + at, 999});
                std::memset(p.host.bytes().data() + t * part, 0, part);
                p.expect_done(p.queue.submit(list));
                for (copy_piece const& each : list)
                    ASSERT_EQ(std::memcmp(reinterpret_cast<void*>(each.to),
                                          there.data() + (each.from - p.block.address()), 999),
                              0);
            }
        });
    for (std::thread& each : all)
        each.join();
}

TEST_P(batch_test, comes_after_a_stream_and_lets_it_go_on) {
    batch_program p;
    pinned_block source(64 * kib), seen(64 * kib);
    auto const list = p.pieces(100, 600);
    for (unsigned round = 0; round < 20; ++round) {
        SCOPED_TRACE(round);
        auto const before = pattern(64 * kib, round), later = pattern(64 * kib, round + 100);
        write_by_driver(p.block.address(), before);
        source.fill(later);
        std::memset(p.host.bytes().data(), 0, p.host.bytes().size());
        gated_stream stream;
        stream.copy(p.block.address(), source.address(), 64 * kib); // "the kernel before"
        batch_ticket const ticket = p.queue.submit(list, after{stream.get()}, then{stream.get()});
        stream.copy(seen.address(), p.host.address(), 64 * kib); // "the kernel behind"
        if (round == 0)
            std::this_thread::sleep_for(50ms);
        EXPECT_FALSE(p.queue.done(ticket));
        EXPECT_FALSE(p.queue.wait(ticket, 1ms));
        EXPECT_FALSE(stream.is_idle());
        stream.open();
        stream.synchronize();
        EXPECT_TRUE(p.queue.done(ticket));
        auto const expected = p.host_after(list, std::vector<std::byte>(64 * kib), later);
        EXPECT_TRUE(same_bytes(seen.bytes(), expected));
    }
}

// More pieces than an engine takes at a time.
TEST_P(batch_test, a_stream_goes_on_behind_the_last_piece_of_a_long_batch) {
    batch_program p;
    auto const list = p.pieces(40'000, 25);
    for (unsigned round = 0; round < 5; ++round) {
        gated_stream first;
        batch_ticket const ticket = p.queue.submit(list, after{first.get()}, then{first.get()});
        first.open();
        first.synchronize();
        EXPECT_TRUE(p.queue.done(ticket)) << round;
        open_stream second;
        batch_ticket const plain = p.queue.submit(list, {}, then{second.get()});
        second.synchronize();
        EXPECT_TRUE(p.queue.done(plain)) << round;
        p.expect_done(ticket);
        p.expect_done(plain);
    }
}

TEST_P(batch_test, orders_two_streams_by_after_and_then) {
    batch_program p;
    gated_stream first;
    open_stream second;
    auto const list = p.pieces(50, 600);
    std::vector<copy_piece> const one{{p.host.address(), p.block.address(), 4}};
    // Behind nothing of a stream's; the other waits for it.
    batch_ticket const plain = p.queue.submit(one, {}, then{second.get()});
    second.synchronize();
    EXPECT_TRUE(p.queue.done(plain));
    batch_ticket const held = p.queue.submit(list, after{first.get()}, then{second.get()});
    EXPECT_FALSE(p.queue.wait(held, 20ms));
    EXPECT_FALSE(second.is_idle());
    first.open();
    second.synchronize();
    EXPECT_TRUE(p.queue.done(held));
    // Only an order.
    first.close();
    batch_ticket const empty = p.queue.submit({}, after{first.get()}, then{second.get()});
    EXPECT_FALSE(p.queue.wait(empty, 20ms));
    EXPECT_FALSE(second.is_idle());
    first.open();
    second.synchronize();
    p.expect_done(empty);
    // The default stream, which is null.
    p.expect_done(p.queue.submit(list, after{}, then{}));
}

TEST_P(batch_test, what_waits_holds_up_nothing_else) {
    batch_program p;
    gated_stream held;
    open_stream other;
    auto const list = p.pieces(50, 600);
    batch_ticket const waiting = p.queue.submit(list, after{held.get()}, then{held.get()});
    for (int i = 0; i < 10; ++i) {
        p.expect_done(p.queue.submit(list));
        p.expect_done(p.queue.submit(list, after{other.get()}, then{other.get()}));
        other.synchronize();
    }
    EXPECT_FALSE(p.queue.done(waiting));
    held.open();
    p.expect_done(waiting);
}

// More streams than there are lanes: they wait for each other, and each comes to its end.
TEST_P(batch_test, many_streams_all_come_to_their_end) {
    batch_program p;
    constexpr std::size_t streams = 9;
    std::vector<std::unique_ptr<gated_stream>> all;
    std::vector<batch_ticket> tickets;
    auto const list = p.pieces(20, 600);
    for (std::size_t i = 0; i < streams; ++i) {
        all.push_back(std::make_unique<gated_stream>());
        tickets.push_back(p.queue.submit(list, after{all[i]->get()}, then{all[i]->get()}));
    }
    for (std::size_t i = streams; i-- > 0;)
        all[i]->open();
    for (std::size_t i = 0; i < streams; ++i) {
        all[i]->synchronize();
        p.expect_done(tickets[i]);
    }
}

TEST_P(batch_test, more_than_the_engine_has_room_for_waits_for_room) {
    batch_program p;
    std::vector<batch_ticket> tickets;
    auto const list = p.pieces(5000, 200);
    for (int i = 0; i < 10; ++i)
        tickets.push_back(p.queue.submit(list));
    for (int i = 0; i < 600; ++i)
        tickets.push_back(p.queue.submit(std::span(list).first(1)));
    for (batch_ticket const each : tickets)
        p.expect_done(each);
    p.expect_to_work(6, 5000, 200);
}

} // namespace
} // namespace barmap::contract
