// SPDX-License-Identifier: MIT
#include "contract/checkpoint_of_cuda.hpp"
#include "contract/graph_fixture.hpp"
#include "shared/in_child.hpp"

#include <barmap/checkpoint.hpp>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

/// Batches in streams that are being captured into CUDA graphs.
namespace barmap::contract {
namespace {

struct batch_graph_test : graph_test {
    batch_ticket capture(std::vector<copy_piece> const& pieces) {
        graph.capture(stream.get());
        batch_ticket const ticket =
            p->queue.submit(pieces, after{stream.get()}, then{stream.get()});
        graph.end_capture();
        return ticket;
    }
    void wait_until_done(batch_ticket ticket) { EXPECT_TRUE(p->queue.wait(ticket, 20s)); }
};

TEST_F(batch_graph_test, a_batch_is_a_node_that_copies_in_each_replay) {
    p->host.fill(pattern(batch_program::size, 1));
    batch_ticket const ticket = capture(list);
    EXPECT_TRUE(same_bytes(p->host.bytes(), pattern(batch_program::size, 1))) << "not yet";
    ASSERT_EQ(graph.nodes().size(), 1u);
    EXPECT_EQ(graph.nodes()[0].stream, stream.get());
    EXPECT_EQ(graph.nodes()[0].task.nanoseconds, 10'000'000'000u);
    list.assign(3, {}); // which may go
    auto const pieces = p->pieces(100, 200);
    expect_to_copy(0, pieces, 2);
    expect_to_copy(0, pieces, 4);
    EXPECT_FALSE(p->queue.done(ticket)) << "there may be more replays";
    EXPECT_FALSE(p->queue.wait(ticket, 1ms));
    graph.destroy();
    wait_until_done(ticket);
    EXPECT_TRUE(p->queue.done(ticket)) << "again";
    p->expect_to_work(7); // and without a graph
}

TEST_F(batch_graph_test, a_list_of_any_length_is_one_node) {
    std::vector<copy_piece> const long_list = p->pieces(5000, 200);
    (void)capture(long_list);
    std::vector<copy_piece> with_gaps;
    for (copy_piece const& each : list) {
        with_gaps.push_back(each);
        with_gaps.push_back({each.to, each.from, 0});
    }
    (void)capture(with_gaps);
    ASSERT_EQ(graph.nodes().size(), 2u);
    EXPECT_EQ(*graph.on_cpu(graph.nodes()[0].task.count), 5000u);
    EXPECT_EQ(*graph.on_cpu(graph.nodes()[1].task.count), 100u);
    EXPECT_EQ(graph.nodes()[1].task.most, 100u);
    expect_to_copy(0, long_list, 2);
    expect_to_copy(1, list, 4);
    expect_to_copy(0, long_list, 6); // they take turns with one queue
}

TEST_F(batch_graph_test, without_pieces_there_is_no_node) {
    batch_ticket const none = capture({}), also_none = capture({{1, 1, 0}});
    EXPECT_EQ(none, batch_ticket{});
    EXPECT_EQ(also_none, batch_ticket{});
    EXPECT_TRUE(p->queue.done(none));
    EXPECT_TRUE(graph.nodes().empty());
    EXPECT_EQ(graph.kept(), 0u);
}

TEST_F(batch_graph_test, pieces_are_cut_to_what_a_kernel_may_submit) {
    constexpr std::size_t most = kernel_side::queue::most_bytes;
    (void)capture({{p->host.address(), p->block.address(), 2 * most + 5}});
    ASSERT_EQ(graph.nodes().size(), 1u);
    EXPECT_EQ(*graph.on_cpu(graph.nodes()[0].task.count), 3u);
    EXPECT_EQ(graph.on_cpu(graph.nodes()[0].task.pieces)[2].bytes, 5u);
}

TEST_F(batch_graph_test, one_of_both_orders_is_enough_and_a_limit_is_that_of_the_kernel) {
    graph.capture(stream.get());
    (void)p->queue.submit(list, after{stream.get(), 5s});
    (void)p->queue.submit(list, std::nullopt, then{stream.get()});
    graph.end_capture();
    ASSERT_EQ(graph.nodes().size(), 2u);
    EXPECT_EQ(graph.nodes()[0].stream, stream.get());
    EXPECT_EQ(graph.nodes()[0].task.nanoseconds, 5'000'000'000u);
    EXPECT_EQ(graph.nodes()[1].stream, stream.get());
    EXPECT_EQ(graph.nodes()[1].task.nanoseconds, 10'000'000'000u);
}

TEST_F(batch_graph_test, two_streams_of_which_one_is_captured_are_refused) {
    open_stream other;
    graph.capture(stream.get());
    auto const refused = [&](CUstream first, CUstream last) {
        expect_refusal([&] { (void)p->queue.submit(list, after{first}, then{last}); },
                       errc::unsupported_operation, "two streams", "cudaStreamWaitEvent");
    };
    refused(stream.get(), other.get());
    refused(other.get(), stream.get());
    graph.capture(other.get());
    refused(stream.get(), other.get());
    graph.end_capture();
    EXPECT_TRUE(graph.nodes().empty());
    p->expect_done(p->queue.submit(list, after{stream.get()}, then{other.get()}));
}

TEST_F(batch_graph_test, a_capture_that_ends_meanwhile_is_refused) {
    graph->stream_get_capture_info = [](CUstream, int* status, std::uint64_t*, CUgraph*,
                                        CUgraphNode const**, std::size_t*) {
        *status = cuda::capture_status_none;
        return cuda::success;
    };
    expect_refusal([&] { (void)capture(list); }, errc::invalid_argument, "has ended meanwhile");
    EXPECT_TRUE(graph.nodes().empty()) << "its list would be freed";
}

TEST_F(batch_graph_test, replays_at_the_same_time_take_turns) {
    auto const half = std::span(list).first(50);
    (void)capture({half.begin(), half.end()});
    (void)capture({list.begin() + 50, list.end()});
    auto const there = pattern(batch_program::size, 1), here = pattern(batch_program::size, 2);
    write_by_driver(p->block.address(), there);
    p->host.fill(here);
    std::thread other([&] {
        for (int i = 0; i < 100; ++i)
            EXPECT_EQ(graph.replay(0), kernel_side::status::ok);
    });
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(graph.replay(1), kernel_side::status::ok);
    other.join();
    EXPECT_TRUE(same_bytes(p->host.bytes(), p->host_after(list, here, there)));
}

TEST_F(batch_graph_test, a_piece_that_is_wrong_is_refused_at_capture) {
    expect_refusal(
        [&] {
            (void)capture({{0, p->block.address(), 5}});
        },
        errc::invalid_argument, "its `to` is null");
    EXPECT_TRUE(graph.nodes().empty());
}

TEST_F(batch_graph_test, a_replay_that_fails_is_told_by_the_ticket) {
    batch_ticket const good = capture(list), bad = capture(p->unmapped());
    std::thread replay([&] { EXPECT_EQ(graph.replay(1), kernel_side::status::failed); });
    std::optional<error> why;
    while (!why) {
        try {
            EXPECT_FALSE(p->queue.done(bad));
        } catch (error const& found) {
            why = found;
        }
    }
    replay.join();
    EXPECT_EQ(why->code(), errc::copy_unfinished);
    EXPECT_NE(std::string(why->what()).find("error 31"), std::string::npos) << why->what();
    EXPECT_NE(std::string(why->what()).find("capture again"), std::string::npos) << why->what();
    expect_refusal([&] { (void)p->queue.done(good); }, errc::copy_unfinished, "error 31");
    EXPECT_EQ(graph.replay(0), kernel_side::status::failed) << "it has the same queue";
    p->expect_to_work(2); // other batches have other channels

    batch_ticket const next = capture(list); // gets another queue
    ASSERT_EQ(graph.nodes().size(), 3u);
    EXPECT_NE(graph.nodes()[2].task.queue.token, graph.nodes()[0].task.queue.token);
    expect_to_copy(2, list, 4);
    EXPECT_FALSE(p->queue.done(next));
    expect_refusal([&] { (void)p->queue.done(good); }, errc::copy_unfinished, "error 31");
}

TEST_F(batch_graph_test, a_replay_that_does_not_end_in_its_time_is_told_once) {
    graph.capture(stream.get());
    batch_ticket const ticket = p->queue.submit(list, after{stream.get(), 1us});
    graph.end_capture();
    machine.gpu().hold(own_engine);
    EXPECT_EQ(graph.replay(0), kernel_side::status::timed_out);
    expect_refusal([&] { (void)p->queue.wait(ticket, 1s); }, errc::copy_unfinished, "in its time",
                   "at_most");
    EXPECT_FALSE(p->queue.done(ticket)) << "once";
    machine.gpu().release();
}

TEST_F(batch_graph_test, a_ticket_that_was_not_given_is_refused) {
    auto const refused = [&](batch_ticket ticket) {
        expect_refusal([&] { (void)p->queue.done(ticket); }, errc::invalid_argument,
                       "a ticket of this GPU's batch queue");
    };
    refused(batch_ticket{1});
    batch_ticket const first = capture(list), second = capture(list);
    EXPECT_NE(first, second);
    EXPECT_EQ(batch_queue::queue_of(first), batch_queue::queue_of(second));
    refused(batch_ticket{3});
    graph.destroy();
    wait_until_done(first);
    wait_until_done(second);
    (void)capture(list); // forgets the two
    EXPECT_TRUE(p->queue.done(first));
    refused(batch_ticket{4});
    p.reset(); // the last handle of the queue
    p.emplace();
    list = p->pieces(100, 200);
    (void)capture(list);
    refused(first);
    refused(batch_ticket{3});
}

TEST_F(batch_graph_test, a_graph_keeps_what_it_uses_when_the_batch_queue_goes) {
    p.reset();
    device_block const block(4096);
    pinned_block const host(4096);
    {
        batch_queue queue = gpu.batch_queue();
        graph.capture(stream.get());
        (void)queue.submit(std::vector<copy_piece>{{host.address(), block.address(), 4096}},
                           after{stream.get()});
        graph.end_capture();
    }
    write_by_driver(block.address(), pattern(4096, 3));
    EXPECT_EQ(graph.replay(0), kernel_side::status::ok);
    EXPECT_TRUE(same_bytes(host.bytes(), pattern(4096, 3)));
    graph.destroy();
}

TEST_F(batch_graph_test, what_the_driver_refuses_leaves_nothing) {
    auto const refused = [&](auto cuda::driver_api::*call, auto answer) {
        auto const was = graph.operator->()->*call;
        graph.operator->()->*call = answer;
        EXPECT_EQ(caught([&] { (void)capture(list); }).code(),
                  std::error_code(cuda::error_not_supported, cuda_category()));
        graph.operator->()->*call = was;
        graph.end_capture();
        EXPECT_TRUE(graph.nodes().empty());
        EXPECT_EQ(graph.objects(), 0u);
    };
    auto const no = [](auto...) { return cuda::error_not_supported; };
    refused(&cuda::driver_api::stream_get_capture_info, no);
    refused(&cuda::driver_api::user_object_create, no);
    refused(&cuda::driver_api::graph_retain_user_object, no);
    refused(&cuda::driver_api::memcpy_htod_async, no);
    (void)capture(list);
    expect_to_copy(0, list, 2);
}

TEST_F(batch_graph_test, a_checkpoint_releases_the_queues_that_graphs_keep) {
    batch_ticket const ticket = capture(list);
    std::optional<kernel_queue> queue(std::in_place, gpu);
    enqueue_anything(*queue);
    queue.reset(); // the graph has it
    checkpoint_prepare();
    EXPECT_EQ(machine->held().driver_objects, 0u);
    EXPECT_EQ(refusal_of([&] { (void)p->queue.done(ticket); }).code, errc::checkpointed);
    checkpoint_of_cuda::whole();
    checkpoint_restore();
    EXPECT_FALSE(p->queue.done(ticket)) << "the graph is there, and of no use";
    batch_ticket const next = capture(list);
    expect_to_copy(2, list, 2);
    graph.destroy();
    wait_until_done(ticket);
    wait_until_done(next);
    EXPECT_EQ(p->queue.engine(), "channel"); // as before
}

TEST_F(batch_graph_test, a_forked_child_leaves_its_parents_graph_alone) {
    (void)capture(list);
    expect_exit(7, in_child(7, [&] {
                    if (kernel_side::code_of([&] { (void)p->queue.submit(list); }) !=
                        errc::forked_child)
                        ::_exit(1);
                    graph.destroy(); // as the driver's end might
                }));
    expect_to_copy(0, list, 2);
}

void expect_refused(std::string_view why) {
    batch_program p;
    open_stream stream;
    std::vector<copy_piece> const list{{p.host.address(), p.block.address(), 5}};
    changed_driver capturing;
    capturing->stream_is_capturing = [](CUstream, int* status) {
        *status = 1;
        return cuda::success;
    };
    auto const refused = [&](std::optional<after> begin, std::optional<then> end) {
        expect_refusal([&] { (void)p.queue.submit(list, begin, end); }, errc::unsupported_operation,
                       why, "before or after the graph's launch");
    };
    refused(after{stream.get()}, std::nullopt);
    refused(std::nullopt, then{stream.get()});
    capturing.restore();
    p.expect_to_work(4);
}

TEST(batch_without_graphs_test, is_refused_where_the_user_wants_no_channel) {
    engine_machine const machine("driver");
    expect_refused("BARMAP_ENGINE=driver allows no channel");
}

TEST(batch_without_graphs_test, is_refused_where_kernels_reach_no_doorbell) {
    engine_machine const machine("channel", {.series = 570, .chip = "GA100"});
    expect_refused("before Hopper");
}

std::atomic<bool> frees{false}, has_freed{false};

/// What the driver's own destructors, which come later, would meet.
struct driver_at_exit {
    ~driver_at_exit() {
        if (!has_freed)
            std::_Exit(3);
    }
};

/// Exits while the library frees what a graph has used.
[[noreturn]] void exit_while_it_frees() {
    static driver_at_exit const driver;
    (void)new engine_machine("channel"); // nothing here ends before the process
    auto const& p = *new batch_program;
    auto& graph = *new captured_graph(p.gpu);
    auto const& stream = *new open_stream;
    graph.capture(stream.get());
    (void)batch_queue(p.queue).submit(p.pieces(10, 100), after{stream.get()});
    graph.end_capture();
    graph->mem_free = [](CUdeviceptr address) {
        frees = true;
        std::this_thread::sleep_for(300ms);
        CUresult const result = changed_driver::real.mem_free(address);
        has_freed = true;
        return result;
    };
    graph.destroy();
    while (!frees)
        std::this_thread::yield();
    std::exit(testing::Test::HasFailure() ? 2 : 0);
}

TEST(graph_exit_test, the_exit_of_the_process_waits_for_what_is_being_freed) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exit_while_it_frees(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace barmap::contract
