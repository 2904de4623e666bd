// SPDX-License-Identifier: MIT
#include "contract/checkpoint_of_cuda.hpp"
#include "contract/graph_fixture.hpp"

#include <atomic>
#include <optional>

/// Lists of kernel queues that CUDA graphs have captured.
namespace barmap::contract {
namespace {

using kernel_queue_graph_test = graph_test;

TEST_F(kernel_queue_graph_test, a_graph_keeps_a_kernel_queue_whose_handle_goes) {
    std::optional<kernel_queue> queue(std::in_place, gpu);
    device_block const table(mib);
    std::uint64_t const count = list.size();
    expect_success(
        cuda::api().memcpy_htod(table.address(), list.data(), list.size() * sizeof(copy_piece)));
    expect_success(cuda::api().memcpy_htod(table.address() + mib / 2, &count, sizeof count));
    graph.capture(stream.get());
    queue->enqueue(reinterpret_cast<copy_piece const*>(table.address()),
                   reinterpret_cast<std::uint64_t const*>(table.address() + mib / 2), 1000, 10s,
                   stream.get());
    graph.end_capture();
    ASSERT_EQ(graph.nodes().size(), 1u);
    EXPECT_EQ(graph.kept(), 1u);
    queue.reset();
    expect_to_copy(0, list, 2);
    graph.destroy();
}

TEST_F(kernel_queue_graph_test, a_graph_may_go_while_another_one_is_captured) {
    auto const held = machine->held().driver_objects;
    std::optional<kernel_queue> queue(std::in_place, gpu);
    enqueue_anything(*queue);
    queue.reset(); // the graph has it
    graph.capture(stream.get());
    graph.destroy();
    auto const until = std::chrono::steady_clock::now() + 20s;
    while (machine->held().driver_objects > held && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(1ms);
    EXPECT_EQ(machine->held().driver_objects, held);
    graph.end_capture();
}

// Kernels that have its handle might ring a doorbell that has gone.
TEST_F(kernel_queue_graph_test, the_handle_of_a_kernel_queue_goes_after_the_kernels) {
    static std::atomic<int> waits;
    waits = 0;
    graph->ctx_synchronize = [] {
        ++waits;
        return changed_driver::real.ctx_synchronize();
    };
    std::optional<kernel_queue> queue(std::in_place, gpu);
    EXPECT_EQ(waits, 0);
    queue->restart();
    EXPECT_EQ(waits, 1);
    enqueue_anything(*queue);
    queue.reset();
    EXPECT_EQ(waits, 2) << "also if a graph keeps it";
    checkpoint_prepare();
    EXPECT_GE(waits, 3);
    checkpoint_restore();
}

// A list that is enqueued leaves nothing with a graph.
TEST_F(kernel_queue_graph_test, another_stream_keeps_nothing) {
    kernel_queue const queue(gpu);
    graph->launch_kernel = [](auto...) { return cuda::success; };
    auto const* const anything = reinterpret_cast<copy_piece const*>(p->block.address());
    queue.enqueue(anything, &anything->bytes, 1, 1s, stream.get());
    EXPECT_EQ(graph.objects(), 0u);
}

} // namespace
} // namespace barmap::contract
