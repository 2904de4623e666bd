// SPDX-License-Identifier: MIT
#include "captured.hpp"
#include "contract/captured_graph.hpp"
#include "contract/memcpy_fixture.hpp"
#include "fake/simulation.hpp"
#include "shared/in_child.hpp"

#include <optional>
#include <tuple>

/// Batches of libbarmap-memcpy in streams that are captured into graphs, where CUDA refuses them.
namespace barmap::contract {
namespace {

using memcpy_dropin::capture_unsupported;

constexpr std::size_t none = ~std::size_t{0};

/// A program whose stream is captured. The copies that CUDA is given for it are nodes.
class memcpy_captured : public testing::Test {
protected:
    void SetUp() override {
        m_.emplace("channel");
        graph_.emplace(m_->p.gpu);
        stream_.emplace();
        copies_.clear();
        refused_ = none;
        (*graph_)->memcpy_async = [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                     CUstream) {
            if (copies_.size() == refused_)
                return cuda::error_invalid_value;
            copies_.push_back({to, from, bytes});
            return cuda::success;
        };
    }
    void TearDown() override {
        m_->machine.gpu().release();
        graph_->end_capture();
        graph_->destroy();
        stream_.reset();
        graph_.reset();
        m_.reset();
    }
    copies of(std::size_t count) { return {m_->p.pieces(count, 200), stream_->get()}; }
    /// What the program gets, and which piece CUDA has refused.
    std::pair<std::optional<CUresult>, std::size_t> capture(copies const& given) {
        graph_->capture(given.stream);
        std::size_t failed = none;
        auto const result = memcpy_dropin::capture(given.call(), failed);
        graph_->end_capture();
        return {result, failed};
    }
    void expect_copy_nodes(copies const& given) {
        copies_.clear();
        EXPECT_EQ(capture(given), std::pair(std::optional(cuda::success), none));
        ASSERT_EQ(copies_.size(), given.to.size());
        for (std::size_t i = 0; i < copies_.size(); ++i)
            EXPECT_EQ(std::tuple(copies_[i].to, copies_[i].from, copies_[i].bytes),
                      std::tuple(given.to[i], given.from[i], given.bytes[i]));
        EXPECT_TRUE(graph_->nodes().empty());
    }
    void expect_left(copies const& given) {
        copies_.clear();
        EXPECT_EQ(capture(given), std::pair(std::optional<CUresult>(), none));
        EXPECT_TRUE(copies_.empty() && graph_->nodes().empty());
    }

    std::optional<memcpy_program> m_;
    std::optional<captured_graph> graph_;
    std::optional<open_stream> stream_;
    static inline std::vector<copy_piece> copies_;
    static inline std::size_t refused_;
};

TEST_F(memcpy_captured, a_batch_that_would_be_taken_is_one_kernel) {
    m_->expect_ready();
    copies const given = of(100);
    graph_->capture(given.stream);
    EXPECT_FALSE(memcpy_dropin::take(given.call())) << "the driver is asked first";
    EXPECT_EQ(capture(given), std::pair(std::optional(cuda::success), none));
    EXPECT_TRUE(copies_.empty());
    ASSERT_EQ(graph_->nodes().size(), 1u);
    EXPECT_EQ(*graph_->on_cpu(graph_->nodes()[0].task.count), 100u);
    auto const there = pattern(batch_program::size, 3), here = pattern(batch_program::size, 4);
    for (int replay = 0; replay < 2; ++replay) {
        write_by_driver(m_->p.block.address(), there);
        m_->p.host.fill(here);
        EXPECT_EQ(graph_->replay(0), kernel_side::status::ok);
        EXPECT_TRUE(
            same_bytes(m_->p.host.bytes(), m_->p.host_after(m_->p.pieces(100, 200), here, there)));
    }
    EXPECT_NE(m_->words().find("; of these, 1 became nodes of graphs"), std::string::npos)
        << m_->words();
}

// A graph may live for ever: its store holds up no loads.
TEST_F(memcpy_captured, a_batch_in_a_graph_counts_as_a_store_for_nobody) {
    m_->expect_ready();
    EXPECT_EQ(capture(of(100)).first, cuda::success);
    EXPECT_FALSE(memcpy_dropin::gpu_batches::of(0)->stores());
    graph_->destroy();
    EXPECT_EQ(memcpy_dropin::take(of(100).call()), cuda::success);
    stream_->synchronize();
    memcpy_dropin::gpu_batches* const gpu = memcpy_dropin::gpu_batches::of(0);
    while (gpu->stores())
        EXPECT_FALSE(gpu->has_a_batch_failed());
    gated_stream held; // what counts after the graph's
    EXPECT_EQ(memcpy_dropin::take(copies(m_->p.pieces(100, 200), held.get()).call()),
              cuda::success);
    EXPECT_FALSE(gpu->has_a_batch_failed());
    EXPECT_TRUE(gpu->stores());
    held.open();
    held.synchronize();
}

TEST_F(memcpy_captured, any_other_batch_is_a_copy_for_each_piece) {
    expect_copy_nodes(of(100)); // before there is an engine
    EXPECT_EQ(memcpy_dropin::gpu_batches::of(0)->is_ready(), false);
    m_->expect_ready();
    expect_copy_nodes(of(1)); // few pieces
    expect_copy_nodes(of(8));
    large_memory const memory(33 * (mib + 1));
    expect_copy_nodes({memory.to_cpu(33, mib + 1), stream_->get()}); // large ones
    copies both_ways = of(20);
    std::swap(both_ways.to[7], both_ways.from[7]);
    expect_copy_nodes(both_ways);
    EXPECT_NE(m_->words().find("; of these, 5 became nodes of graphs"), std::string::npos)
        << m_->words();
}

TEST_F(memcpy_captured, a_piece_that_cuda_refuses_is_named) {
    refused_ = 3;
    EXPECT_EQ(capture(of(8)), std::pair(std::optional(cuda::error_invalid_value), std::size_t{3}));
    EXPECT_EQ(copies_.size(), 3u);
}

TEST_F(memcpy_captured, what_cuda_would_refuse_anywhere_stays_refused) {
    copies given = of(10);
    given.bytes[4] = 0;
    expect_left(given);
    given = of(10);
    given.attributes[0].srcAccessOrder = cuda::source_order_during_call; // cannot be kept
    expect_left(given);
    std::vector<std::byte> pageable(100);
    given = of(10);
    given.from[4] = reinterpret_cast<std::uintptr_t>(pageable.data());
    given.bytes[4] = 100;
    expect_left(given); // could end the capture
    given = of(10);
    given.stream = nullptr;
    expect_left(given);
}

TEST_F(memcpy_captured, a_stream_that_is_not_captured_is_left) {
    copies const given = of(10);
    std::size_t failed = none;
    EXPECT_FALSE(memcpy_dropin::capture(given.call(), failed));
    EXPECT_TRUE(copies_.empty());
}

TEST_F(memcpy_captured, calls_of_its_own_and_of_a_child_are_left) {
    {
        memcpy_dropin::own_calls const ours;
        expect_left(of(10));
    }
    copies const given = of(10);
    EXPECT_EQ(capture(given).first, cuda::success); // the parent is the first user
    copies_.clear();
    static bool is_asked;
    (*graph_)->stream_is_capturing = [](CUstream, int* status) {
        is_asked = true;
        *status = cuda::capture_status_active;
        return cuda::success;
    };
    is_asked = false;
    expect_exit(0, in_child(1, [&] {
                    std::size_t failed = none;
                    if (!memcpy_dropin::capture(given.call(), failed) && !is_asked)
                        ::_exit(0);
                }));
}

TEST_F(memcpy_captured, tells_of_an_earlier_batch_that_has_failed) {
    m_->expect_ready();
    m_->machine.gpu().fail_next();
    EXPECT_EQ(memcpy_dropin::take(of(100).call()), cuda::success);
    stream_->synchronize();
    EXPECT_EQ(capture(of(100)), std::pair(std::optional(CUresult{700}), std::size_t{0}));
    EXPECT_TRUE(copies_.empty() && graph_->nodes().empty());
    expect_copy_nodes(of(100)); // from now on
}

// Its kernel waits for a while, which is over.
TEST_F(memcpy_captured, a_replay_that_fails_is_told_by_the_next_batch) {
    m_->expect_ready();
    copies const given = of(100);
    EXPECT_EQ(capture(given).first, cuda::success);
    m_->machine.gpu().fail_next();
    EXPECT_NE(graph_->replay(0), kernel_side::status::ok);
    EXPECT_EQ(memcpy_dropin::take(given.call()), 700);
    EXPECT_FALSE(memcpy_dropin::take(given.call())) << "CUDA copies from now on";
}

// The queue tells of it once, also while tickets of graphs are looked at for another reason.
TEST_F(memcpy_captured, a_replay_that_fails_is_told_by_the_next_captured_batch) {
    m_->expect_ready();
    copies const given = of(100);
    for (int i = 0; i < 70; ++i) // more than are kept before a look at all
        EXPECT_EQ(capture(given).first, cuda::success);
    EXPECT_EQ(memcpy_dropin::take(given.call()), cuda::success);
    stream_->synchronize();
    m_->machine.gpu().fail_next();
    EXPECT_NE(graph_->replay(0), kernel_side::status::ok);
    EXPECT_EQ(capture(given), std::pair(std::optional(CUresult{700}), std::size_t{0}));
    EXPECT_EQ(graph_->nodes().size(), 70u);
    EXPECT_TRUE(copies_.empty());
}

/// Every stream is captured; the copies that CUDA is given are counted.
struct captured_copies : changed_driver {
    captured_copies() {
        nodes = 0;
        table.stream_is_capturing = [](CUstream, int* status) {
            *status = cuda::capture_status_active;
            return cuda::success;
        };
        table.memcpy_async = [](auto...) {
            ++nodes;
            return cuda::success;
        };
    }
    static inline int nodes;
};

// As before Hopper.
TEST(memcpy_captured_elsewhere, without_kernel_queues_it_is_copies) {
    memcpy_program m("driver");
    m.expect_ready();
    open_stream const stream;
    copies const given{m.p.pieces(100, 200), stream.get()};
    captured_copies capturing;
    std::size_t failed = none;
    EXPECT_EQ(memcpy_dropin::capture(given.call(), failed), cuda::success);
    EXPECT_EQ(captured_copies::nodes, 100);
    capturing->stream_is_capturing = [](CUstream, int* status) {
        *status = cuda::capture_status_active + 1; // which something has ended
        return cuda::success;
    };
    EXPECT_FALSE(memcpy_dropin::capture(given.call(), failed));
    EXPECT_EQ(captured_copies::nodes, 100);
}

// It is found out once: a channel is opened for it.
TEST(memcpy_captured_elsewhere, before_hopper_it_is_copies) {
    memcpy_program m("channel", {.series = 570, .chip = "GA100"});
    m.expect_ready();
    open_stream const stream;
    copies const given{m.p.pieces(100, 200), stream.get()};
    captured_copies capturing;
    auto const calls = [&] {
        auto const before = fake::the_simulation().calls();
        std::size_t failed = none;
        EXPECT_EQ(memcpy_dropin::capture(given.call(), failed), cuda::success);
        return fake::the_simulation().calls() - before;
    };
    auto const first = calls(), second = calls();
    EXPECT_EQ(captured_copies::nodes, 200);
    EXPECT_LT(second, first) << "tried again";
    EXPECT_LT(second, 20u);
}

TEST(memcpy_captured_elsewhere, a_library_that_is_turned_off_makes_no_nodes) {
    memcpy_program m("driver");
    set_environment("BARMAP_ENGINE", "none"); // before the library is asked for the first time
    open_stream const stream;
    copies const given{m.p.pieces(100, 200), stream.get()};
    std::size_t failed = none;
    captured_copies const capturing;
    EXPECT_FALSE(memcpy_dropin::capture(copies{m.p.pieces(10, 200), stream.get()}.call(), failed));
}

} // namespace
} // namespace barmap::contract
