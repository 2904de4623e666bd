// SPDX-License-Identifier: MIT
#pragma once

#include "contract/batch_fixture.hpp"
#include "contract/captured_graph.hpp"

#include <chrono>
#include <optional>
#include <thread>
#include <vector>

namespace barmap::contract {

/// A program whose stream may be captured. Once the graph has been destroyed, nothing may be left.
struct graph_test : testing::Test {
    engine_machine machine{"channel"};
    device gpu = device::open(0);
    open_stream stream;
    captured_graph graph{gpu};
    fake::left_over const before = machine->held();
    std::optional<batch_program> p{std::in_place};
    std::vector<copy_piece> list = p->pieces(100, 200);

    void TearDown() override {
        machine.gpu().release();
        graph.end_capture();
        graph.destroy();
        p.reset();
        expect_no_more_than_before();
    }
    /// A checkpoint also releases what is made again when it is needed.
    void expect_no_more_than_before() {
        auto const has_more = [&] {
            fake::left_over const now = machine->held();
            return now.driver_objects > before.driver_objects || now.mappings > before.mappings ||
                   now.cuda_objects > before.cuda_objects || now.open_files > before.open_files;
        };
        auto const until = std::chrono::steady_clock::now() + 20s;
        while (has_more() && std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(1ms);
        EXPECT_FALSE(has_more()) << testing::PrintToString(machine->held()) << "; before "
                                 << testing::PrintToString(before);
    }
    /// Replays a node, and looks at every byte.
    void expect_to_copy(std::size_t node, std::vector<copy_piece> const& pieces, unsigned seed) {
        auto const there = pattern(batch_program::size, seed),
                   here = pattern(batch_program::size, seed + 1);
        write_by_driver(p->block.address(), there);
        p->host.fill(here);
        EXPECT_EQ(graph.replay(node), kernel_side::status::ok);
        EXPECT_TRUE(same_bytes(p->host.bytes(), p->host_after(pieces, here, there)));
    }
    void enqueue_anything(kernel_queue const& queue) {
        auto const* const list_on_gpu = reinterpret_cast<copy_piece const*>(p->block.address());
        graph.capture(stream.get());
        queue.enqueue(list_on_gpu, &list_on_gpu->bytes, 1, 1s, stream.get());
        graph.end_capture();
    }
};

} // namespace barmap::contract
