// SPDX-License-Identifier: MIT
#include "base/checkpoint.hpp"
#include "base/config.hpp"
#include "contract/batch_fixture.hpp"
#include "contract/checkpoint_of_cuda.hpp"

/// Few pieces in a stream's order, which CUDA's own copies take.
namespace barmap::contract {
namespace {

constexpr std::size_t most = 8;

struct short_batches : testing::Test {
    engine_machine machine{nullptr};
    batch_program p;
    open_stream stream;

    /// Whether the channel's engine copies such a batch; its bytes are compared.
    bool is_copied_by_the_channel(std::size_t count, std::optional<after> begin,
                                  std::optional<then> end) {
        auto const sent = pattern(batch_program::size, ++seed_);
        p.host.fill(sent);
        std::vector<copy_piece> list;
        for (std::size_t i = 0; i < count; ++i)
            list.push_back({p.block.address() + i * 8192, p.host.address() + i * 4096, 4096});
        auto const before = machine.gpu().done().launches_of[own_engine];
        p.expect_done(p.queue.submit(list, begin, end));
        stream.synchronize();
        auto const seen = read_by_driver(p.block.address(), count * 8192);
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_TRUE(std::equal(sent.begin() + i * 4096, sent.begin() + (i + 1) * 4096,
                                   seen.begin() + i * 8192));
        return machine.gpu().done().launches_of[own_engine] != before;
    }

private:
    unsigned seed_ = 0;
};

TEST_F(short_batches, go_by_cuda_in_the_order_of_a_stream) {
    EXPECT_TRUE(is_copied_by_the_channel(1, {}, {}));
    EXPECT_FALSE(is_copied_by_the_channel(1, after{stream.get()}, then{stream.get()}));
    EXPECT_FALSE(is_copied_by_the_channel(most, after{stream.get()}, then{stream.get()}));
    EXPECT_EQ(p.queue.engine(), "channel");
    EXPECT_EQ(p.report("driver").copies, 2u);
    EXPECT_EQ(p.report("channel").copies, 1u);
}

TEST_F(short_batches, are_those_of_few_pieces_in_one_stream_without_a_limit_of_time) {
    open_stream other;
    EXPECT_TRUE(is_copied_by_the_channel(most + 1, after{stream.get()}, then{stream.get()}));
    EXPECT_TRUE(is_copied_by_the_channel(1, {}, then{stream.get()}));
    EXPECT_TRUE(is_copied_by_the_channel(1, after{stream.get()}, {}));
    EXPECT_TRUE(is_copied_by_the_channel(1, after{other.get()}, then{stream.get()}));
    EXPECT_TRUE(is_copied_by_the_channel(1, after{nullptr}, then{nullptr}));
    EXPECT_TRUE(is_copied_by_the_channel(1, after{stream.get(), 10s}, then{stream.get()}));
}

TEST_F(short_batches, are_those_of_the_policy) {
    ::setenv("BARMAP_POLICY", "short_pieces=2,short_large_pieces=3,large_piece=4096", 1);
    config::read_again();
    EXPECT_FALSE(is_copied_by_the_channel(3, after{stream.get()}, then{stream.get()}));
    EXPECT_TRUE(is_copied_by_the_channel(4, after{stream.get()}, then{stream.get()}));
    ::setenv("BARMAP_POLICY", "short_pieces=2", 1);
    config::read_again();
    EXPECT_FALSE(is_copied_by_the_channel(2, after{stream.get()}, then{stream.get()}));
    EXPECT_TRUE(is_copied_by_the_channel(3, after{stream.get()}, then{stream.get()}));
}

// CUDA copies pieces of megabytes as fast as the channel does.
TEST_F(short_batches, may_have_more_pieces_if_these_are_large) {
    constexpr std::size_t most_large = 32;
    device_block const to((most_large + 1) * mib);
    std::vector<copy_piece> list;
    for (std::size_t i = 0; i <= most_large; ++i)
        list.push_back({to.address() + i * mib, p.host.address(), mib});
    auto const is_copied_by_the_channel = [&](std::span<copy_piece const> pieces) {
        auto const before = machine.gpu().done().launches_of[own_engine];
        p.expect_done(p.queue.submit(pieces, after{stream.get()}, then{stream.get()}));
        return machine.gpu().done().launches_of[own_engine] != before;
    };
    EXPECT_FALSE(is_copied_by_the_channel({list.data(), most_large}));
    EXPECT_TRUE(is_copied_by_the_channel(list));
    --list.front().bytes;
    EXPECT_TRUE(is_copied_by_the_channel({list.data(), most_large}));
}

// Two allocations may touch, and the channel sees addresses alone.
TEST_F(short_batches, across_the_end_of_an_allocation_go_by_the_channel) {
    EXPECT_TRUE(is_copied_by_the_channel(most + 1, after{stream.get()}, then{stream.get()}));
    changed_driver cut; // once that stream has its channel, whose memory is pinned
    cut.tell(cuda::pointer_range_size, std::size_t{2048});
    EXPECT_TRUE(is_copied_by_the_channel(1, after{stream.get()}, then{stream.get()}));
}

// CUDA records no event of one context on a stream of another one.
TEST_F(short_batches, of_streams_of_other_contexts_go_by_the_channel) {
    CUcontext mine = nullptr, other = nullptr;
    cuda::driver_api const& cu = cuda::api();
    expect_success(cu.ctx_get_current(&mine));
    expect_success(cu.ctx_create(&other, 0, 0));
    CUstream of_other = nullptr;
    expect_success(cu.stream_create(&of_other, 1));
    expect_success(cu.ctx_set_current(mine));
    EXPECT_TRUE(is_copied_by_the_channel(1, after{of_other}, then{of_other}));
    expect_success(cu.stream_destroy(of_other));
    expect_success(cu.ctx_destroy(other));
}

TEST_F(short_batches, wait_for_their_stream) {
    gated_stream held;
    std::vector<copy_piece> const list{{p.block.address(), p.host.address(), 4096}};
    batch_ticket const waits = p.queue.submit(list, after{held.get()}, then{held.get()});
    EXPECT_FALSE(is_copied_by_the_channel(1, after{stream.get()}, then{stream.get()}))
        << "it waits for nobody else's";
    EXPECT_FALSE(p.queue.done(waits));
    held.open();
    p.expect_done(waits);
}

// As after an error of the program's own work: that engine ends, and the channel goes on.
TEST_F(short_batches, go_by_the_channel_once_cudas_copies_have_failed) {
    std::vector<copy_piece> const list{{p.block.address(), p.host.address(), 4096}};
    EXPECT_FALSE(is_copied_by_the_channel(1, after{stream.get()}, then{stream.get()}));
    batch_ticket const bad = p.queue.submit(list, after{stream.get()}, then{stream.get()});
    {
        changed_driver failing;
        failing->event_query = [](CUevent) { return CUresult{700}; }; // an illegal address
        expect_refusal([&] { (void)p.queue.done(bad); }, errc::copy_unfinished, "copy a batch");
    }
    batch_ticket next{};
    ASSERT_TRUE(
        returns([&] { next = p.queue.submit(list, after{stream.get()}, then{stream.get()}); }));
    p.expect_done(next);
    EXPECT_TRUE(is_copied_by_the_channel(1, after{stream.get()}, then{stream.get()}));
    EXPECT_EQ(p.report("driver").failures, 1u);
    EXPECT_EQ(p.report("channel").failures, 0u);
    EXPECT_EQ(p.queue.engine(), "channel");
    p.expect_to_work(7);
}

TEST(short_batches_of_a_forced_engine, go_by_it) {
    engine_machine machine("channel");
    batch_program p;
    open_stream stream;
    p.expect_done(p.queue.submit(std::vector<copy_piece>{{p.block.address(), p.host.address(), 1}},
                                 after{stream.get()}, then{stream.get()}));
    EXPECT_EQ(p.report("channel").copies, 1u);
}

TEST(short_batches_where_cuda_makes_no_stream, go_by_the_channel) {
    engine_machine machine{nullptr};
    device gpu = device::open(0);
    device_block const block{4096};
    pinned_block const host{4096};
    changed_driver refusing;
    refusing->stream_create = [](CUstream* made, unsigned flags) {
        static int left = 4; // for the channel's self-test
        return left-- > 0 ? changed_driver::real.stream_create(made, flags) : CUresult{2};
    };
    batch_queue queue = gpu.batch_queue();
    refusing.restore();
    open_stream stream;
    batch_ticket const ticket =
        queue.submit(std::vector<copy_piece>{{block.address(), host.address(), 4096}},
                     after{stream.get()}, then{stream.get()});
    EXPECT_TRUE(queue.wait(ticket, 20s));
    EXPECT_GT(machine.gpu().done().launches_of[own_engine], 0u);
}

// They need no channel, and do not keep the others from looking.
TEST_F(short_batches, hide_no_checkpoint_from_others) {
    EXPECT_TRUE(is_copied_by_the_channel(1, {}, {}));
    EXPECT_FALSE(is_copied_by_the_channel(1, after{stream.get()}, then{stream.get()}));
    checkpoint_of_cuda::whole();
    std::this_thread::sleep_for(2 * checkpoint::shortest);
    EXPECT_FALSE(is_copied_by_the_channel(1, after{stream.get()}, then{stream.get()}));
    expect_refusal([&] { (void)p.queue.submit(p.pieces(3, 100)); }, errc::checkpointed,
                   "without checkpoint");
    checkpoint_restore();
    p.expect_to_work(2);
}

// Their engine ends with the others, and starts again with the next handle.
TEST_F(short_batches, go_by_cuda_again_after_a_checkpoint) {
    EXPECT_FALSE(is_copied_by_the_channel(1, after{stream.get()}, then{stream.get()}));
    checkpoint_prepare(60s);
    checkpoint_of_cuda::whole();
    checkpoint_restore();
    EXPECT_TRUE(is_copied_by_the_channel(1, after{stream.get()}, then{stream.get()}));
    batch_queue const again = p.gpu.batch_queue();
    EXPECT_FALSE(is_copied_by_the_channel(1, after{stream.get()}, then{stream.get()}));
}

} // namespace
} // namespace barmap::contract
