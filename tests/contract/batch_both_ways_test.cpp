// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "rm/channel_abi.hpp"

/// Large batches both ways at once: the later one takes an engine that CUDA uses as well, since
/// either way of the link is then busy by an engine of its own.
namespace barmap::contract {
namespace {

// Of the fake's engines, as of an H200's: the first two serve graphics, two are shared, one is
// free.
constexpr std::uint32_t shared_engine = rm::abi::engine_type_copy0 + 2,
                        own_engine = rm::abi::engine_type_copy0 + 4;

/// The whole of both sides, in pieces that gain by the other engine.
std::vector<copy_piece> large_pieces(device_block const& gpu, pinned_block const& host) {
    constexpr std::size_t each = 64 * kib;
    std::vector<copy_piece> result;
    for (std::size_t at = 0; at < batch_program::size; at += each)
        result.push_back({gpu.address() + at, host.address() + at, each});
    return result;
}

struct both_ways : batch_program {
    device_block back{size};
    pinned_block back_host{size};
    std::vector<copy_piece> out_list = large_pieces(block, host),
                            back_list = large_pieces(back, back_host);

    void fill(unsigned seed) const {
        write_by_driver(block.address(), pattern(size, seed));
        back_host.fill(pattern(size, seed + 1));
    }
    void expect_copied(unsigned seed) const {
        EXPECT_TRUE(std::ranges::equal(host.bytes(), pattern(size, seed)));
        EXPECT_TRUE(read_by_driver(back.address(), size) == pattern(size, seed + 1));
    }
};

TEST(batch_both_ways_test, the_way_back_takes_another_engine) {
    engine_machine machine("channel");
    both_ways p;
    gated_stream held, other;
    held.open();
    other.open();
    for (unsigned round = 0; round < 3; ++round) {
        SCOPED_TRACE(round);
        p.fill(round);
        held.close();
        copy_ticket const out =
            p.engine.submit(copy_direction::to_cpu, p.out_list, after{held.get()});
        copy_ticket const small = p.engine.scatter(
            std::vector<copy_piece>{{p.back.address(), p.back_host.address(), 4096}});
        p.expect_done(small);
        EXPECT_EQ(machine.gpu().done().engine_type, own_engine);
        copy_ticket const back = round == 0
                                     ? p.engine.scatter(p.back_list)
                                     : p.engine.submit(copy_direction::to_gpu, p.back_list,
                                                       after{other.get()}, then{other.get()});
        p.expect_done(back);
        EXPECT_EQ(machine.gpu().done().engine_type, shared_engine);
        EXPECT_FALSE(p.engine.done(out)) << "its ticket is its own";
        held.open();
        p.expect_done(out);
        EXPECT_EQ(machine.gpu().done().engine_type, own_engine);
        p.expect_copied(round);
    }
    p.expect_done(p.engine.scatter(p.back_list)); // nothing goes the other way any more
    EXPECT_EQ(machine.gpu().done().engine_type, own_engine);
}

TEST(batch_both_ways_test, a_failure_of_the_other_engine_is_told) {
    engine_machine machine("channel");
    both_ways p;
    p.fill(7);
    gated_stream held;
    copy_ticket const waiting =
        p.engine.submit(copy_direction::to_cpu, p.out_list, after{held.get()});
    std::vector<copy_piece> list = p.back_list;
    for (copy_piece& each : list)
        each.gpu = 16; // which CUDA has not mapped
    copy_ticket const bad = p.engine.scatter(list);
    expect_refusal(refusal_of([&] { (void)p.engine.wait(bad, 20s); }), errc::copy_unfinished,
                   "which bytes were copied is unknown");
    held.open();
    p.expect_done(waiting); // another lane's
    p.expect_to_work(8);
    EXPECT_EQ(p.report("channel").failures, 1u);
}

} // namespace
} // namespace barmap::contract
