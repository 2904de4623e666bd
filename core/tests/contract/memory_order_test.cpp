// SPDX-License-Identifier: MIT
#include <barmap/gpu/counter.cuh>
#include <barmap/gpu/rpc.cuh>
#include <barmap/gpu/warp_ring.cuh>

#include <barmap/counter.hpp>
#include <barmap/ring.hpp>
#include <barmap/rpc.hpp>

#include <array>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <utility>

/// The order of each load and store of the words that the two sides share (docs/ordering.md).
namespace barmap::gpu {
namespace {

using noted::accesses;

struct small {
    word words[2];
};
struct large {
    word words[9]; // two lines
};

/// Words of either side, with names.
class memory_order_test : public testing::Test {
protected:
    memory_order_test() {
        noted::trace.places = {
            {slots_.data(), slots_.size(), "s"},
            {&control_[ring_words::closed_by_producer], 1, "closed"},
            {&control_[ring_words::cursor], 1, "cursor"},
            {&credits_[ring_words::read], 1, "read"},
            {&credits_[ring_words::closed_by_consumer], 1, "closed"},
            {&credits_[ring_words::next], 1, "next"},
            {requests_.data(), requests_.size(), "q"},
            {owners_.data(), owners_.size(), "owner"},
        };
    }
    template <class T>
    ring_to_gpu<T> to_gpu() {
        return {slots_.data(), control_.data(), credits_.data(), 3};
    }
    template <class T>
    ring_to_cpu<T> to_cpu() {
        return {slots_.data(), control_.data(), credits_.data(), 3};
    }
    /// The first message to the GPU, as the CPU commits it.
    template <class T>
    void commit_first() {
        constexpr word words = slot_to_gpu<T>::payload_words;
        for (word i = 0; i < detail::count_of_commits(words); ++i)
            slots_[detail::place_of_commit(i, words)] = 1;
    }

    std::array<word, 256> slots_{}, requests_{};
    std::array<word, 8> control_{}, credits_{};
    std::array<word, 4> owners_{};
};

std::string const take_pairs = "load acquire s1, load relaxed s0, load acquire s3, load relaxed s2";
std::string const take_lines =
    "load acquire s7, load acquire s15, load relaxed s0, load relaxed s1, load relaxed s2, "
    "load relaxed s3, load relaxed s4, load relaxed s5, load relaxed s6, load relaxed s8, "
    "load relaxed s9";

TEST_F(memory_order_test, a_consumer_reads_a_message_behind_its_commit_words) {
    commit_first<small>();
    small value{};
    std::optional<consumer<small>> in;
    EXPECT_EQ(accesses([&] { in.emplace(to_gpu<small>()); }), "load relaxed cursor");
    EXPECT_EQ(accesses([&] { in->pop(value); }), take_pairs);
    // The credit, then a look at the next slot, and then at whether it is closed.
    EXPECT_EQ(accesses([&] { in->pop(value); }),
              "store release read, load acquire s9, load relaxed s8, load acquire s11, "
              "load relaxed s10, load acquire closed");
    EXPECT_EQ(accesses([&] { in->close(); }), "store release closed");
    EXPECT_EQ(accesses([&] { in.reset(); }), "store relaxed cursor, store release read");
}

TEST_F(memory_order_test, a_consumer_reads_lines_behind_their_commit_words) {
    commit_first<large>();
    large value{};
    consumer<large> in(to_gpu<large>());
    EXPECT_EQ(accesses([&] { in.pop(value); }), take_lines);
}

TEST_F(memory_order_test, a_warp_reads_a_message_behind_its_commit_words) {
    commit_first<small>();
    small value{};
    unsigned count = 0;
    std::optional<warp_consumer<small>> in;
    EXPECT_EQ(accesses([&] { in.emplace(to_gpu<small>()); }), "load relaxed cursor");
    EXPECT_EQ(accesses([&] { in->pop(value, count); }), take_pairs + ", store release read");
    EXPECT_EQ(accesses([&] { in->pop(value, count); }),
              "load acquire s9, load relaxed s8, load acquire s11, load relaxed s10, "
              "load acquire closed");
    EXPECT_EQ(accesses([&] { in->close(); }), "store release closed");
    EXPECT_EQ(accesses([&] { in.reset(); }), "store relaxed cursor, store release read");
}

TEST_F(memory_order_test, a_warp_reads_lines_behind_their_commit_words) {
    commit_first<large>();
    large value{};
    unsigned count = 0;
    warp_consumer<large> in(to_gpu<large>());
    EXPECT_EQ(accesses([&] { in.pop(value, count); }), take_lines + ", store release read");
}

// The slots of a ring to the CPU hold 8 words for a `small`, of which the last one commits.
TEST_F(memory_order_test, a_producer_commits_behind_the_message) {
    std::optional<producer<small>> out;
    EXPECT_EQ(accesses([&] { out.emplace(to_cpu<small>()); }),
              "load relaxed next, load acquire read");
    EXPECT_EQ(accesses([&] { out->push({}); }),
              "store relaxed s0, store relaxed s1, store release s7");
    for (int i = 0; i < 3; ++i)
        out->push({});
    EXPECT_EQ(accesses([&] { out->push({}); }), "load acquire read, load relaxed closed");
    EXPECT_EQ(accesses([&] { out->close(); }), "store release closed");
    EXPECT_EQ(accesses([&] { out.reset(); }), "store relaxed next");
}

TEST_F(memory_order_test, one_word_and_its_commit_word_are_a_pair) {
    producer<word> out(to_cpu<word>());
    EXPECT_EQ(accesses([&] { out.push(5); }), "store relaxed s0, store release s1");
}

TEST_F(memory_order_test, a_warp_commits_behind_the_message) {
    std::optional<warp_producer<small>> out;
    EXPECT_EQ(accesses([&] { out.emplace(to_cpu<small>()); }),
              "load relaxed next, load acquire read");
    EXPECT_EQ(accesses([&] { out->push({}, 1); }),
              "store relaxed s0, store relaxed s1, store release s7");
    for (int i = 0; i < 3; ++i)
        out->push({}, 1);
    EXPECT_EQ(accesses([&] { out->push({}, 1); }), "load acquire read, load relaxed closed");
    EXPECT_EQ(accesses([&] { out->close(); }), "store release closed");
    EXPECT_EQ(accesses([&] { out.reset(); }), "store relaxed next");
}

// O40: a slot is written only behind the credit for the message that was in it.
TEST_F(memory_order_test, a_push_beside_others_writes_behind_the_credit) {
    EXPECT_EQ(accesses([&] { push(to_cpu<small>(), small{}); }),
              "load relaxed next, load acquire read, replace relaxed next, store relaxed s0, "
              "store relaxed s1, store release s7");
    for (int i = 0; i < 3; ++i)
        push(to_cpu<small>(), small{});
    EXPECT_EQ(accesses([&] { push(to_cpu<small>(), small{}); }),
              "load relaxed next, load acquire read, load relaxed closed");
}

TEST_F(memory_order_test, what_comes_before_a_counter_is_seen_behind_it) {
    counter_to_gpu const in{&slots_[0]};
    counter_to_cpu const out{&slots_[0], &slots_[1], 0};
    EXPECT_EQ(accesses([&] { (void)wait_for(in, 5); }), "load acquire s0");
    EXPECT_EQ(accesses([&] { advance(out, 2); }), "store release s0");
    EXPECT_EQ(accesses([&] { arrive(out, 2); }), "add acq_rel s1");
    EXPECT_EQ(accesses([&] { arrive(out, 2); }), "add acq_rel s1, fence acq_rel, store release s0");
}

class call_order_test : public memory_order_test {
protected:
    call_order_test() {
        noted::trace.places.push_back({&calls_[rpc_words::closed_by_cpu], 1, "closed"});
        noted::trace.places.push_back({&calls_[rpc_words::next], 1, "next"});
        for (word i = 0; i < owners_.size(); ++i)
            owners_[i] = detail::owner::free_for(i);
    }
    rpc_to_cpu<small, small> calls() {
        return {requests_.data(), slots_.data(), owners_.data(), calls_.data(), 3};
    }
    std::array<word, 2> calls_{};
    std::string const request = "store relaxed q0, store relaxed q1, store release q7";
};

TEST_F(call_order_test, a_call_frees_its_slot_behind_the_reply) {
    commit_first<small>();
    small value{};
    EXPECT_EQ(accesses([&] { call(calls(), {}, value, 0); }),
              "load relaxed next, load acquire owner0, replace relaxed next, " + request + ", " +
                  take_pairs + ", store release owner0");
}

TEST_F(call_order_test, a_caller_frees_its_slot_behind_the_reply) {
    commit_first<small>();
    small value{};
    std::optional<caller<small, small>> from;
    EXPECT_EQ(accesses([&] { from.emplace(calls()); }), "load relaxed next");
    EXPECT_EQ(accesses([&] { from->call({}, value, 0); }),
              "load acquire owner0, " + request + ", " + take_pairs + ", store release owner0");
    EXPECT_EQ(accesses([&] { from.reset(); }), "store relaxed next");
}

TEST_F(call_order_test, a_slot_is_left_behind_the_request) {
    small value{};
    EXPECT_EQ(accesses([&] { call(calls(), {}, value, 0); }),
              "load relaxed next, load acquire owner0, replace relaxed next, " + request + ", " +
                  take_pairs + ", load acquire closed, store release owner0");
    // The last look is one behind that at `closed`.
    calls_[rpc_words::closed_by_cpu] = 1;
    EXPECT_EQ(accesses([&] { (void)detail::make_call(calls(), 0, small{}, value, detail::time_limit(0)); }),
              request + ", " + take_pairs + ", load acquire closed, " + take_pairs +
                  ", store release owner0");
}

TEST_F(call_order_test, a_slot_that_was_left_is_used_behind_the_reply_to_it) {
    owners_[0] = detail::owner::left_by(0);
    calls_[rpc_words::next] = 4;
    small value{};
    EXPECT_EQ(accesses([&] { call(calls(), {}, value, 0); }),
              "load relaxed next, load acquire owner0, load acquire s1, load acquire s3, "
              "load relaxed closed");
}

// The reply to an earlier call lies in the slot that its caller has not freed: it may still read it.
TEST_F(call_order_test, a_slot_with_a_reply_is_its_callers_until_that_frees_it) {
    commit_first<small>();
    calls_[rpc_words::next] = 4; // the next call in that slot
    small value{};
    EXPECT_EQ(call(calls(), {}, value, 0), status::full);
    EXPECT_EQ((caller<small, small>(calls()).call({}, value, 0)), status::full);
    owners_[0] = detail::owner::left_by(0);
    EXPECT_EQ(call(calls(), {}, value, 0), status::timed_out) << "it was made, and nobody answers";
}

/// The CPU's side, with coherent memory of a simulated GPU: all other stores to it are posted, and
/// ring_order_test says in which order.
class host_order_test : public testing::Test {
protected:
    host_order_test() { noted::trace.places.clear(); }
    void SetUp() override { ASSERT_EQ(words_.kind(), cache_kind::cached); }

    static void name(word const* first, std::size_t count, std::string text) {
        noted::trace.places.push_back({first, count, std::move(text)});
    }
    static void name(ring_handle const& of) {
        name(of.slots, 16, "s");
        name(of.control + ring_words::closed_by_producer, 1, "closed");
        name(of.credits + ring_words::read, 1, "read");
        name(of.credits + ring_words::closed_by_consumer, 1, "closed");
        name(of.credits + ring_words::next, 1, "next");
    }
    template <class Handle>
    static ring_handle untyped(Handle const& of) {
        return {of.slots, of.control, of.credits, of.mask};
    }

    arena const words_{device::open(0), 1 << 16, 1 << 16};
};

TEST_F(host_order_test, a_message_is_pushed_behind_the_credit_and_committed_last) {
    barmap::ring_to_gpu<small> ring(words_, 1);
    name(untyped(ring.handle_for_thread()));
    bool pushed = false;
    EXPECT_EQ(accesses([&] { pushed = ring.try_push({}); }),
              "store release s0, store release s2, store release s1, store release s3");
    EXPECT_TRUE(pushed);
    EXPECT_EQ(accesses([&] { pushed = ring.try_push({}); }), "load acquire read");
    EXPECT_EQ(accesses([&] { (void)ring.depth(); }), "load acquire read");
    EXPECT_EQ(accesses([&] { (void)ring.closed(); }), "load acquire closed");
    EXPECT_EQ(accesses([&] { ring.close(); }), "store release closed");
}

TEST_F(host_order_test, a_message_is_popped_behind_its_commit_word) {
    barmap::ring_to_cpu<small> ring(words_, 1);
    name(untyped(ring.handle_for_thread()));
    {
        producer<small> out(ring.handle_for_thread());
        EXPECT_EQ(out.push({}), status::ok);
    }
    bool popped = false;
    EXPECT_EQ(accesses([&] { (void)ring.depth(); }), "load acquire s7");
    EXPECT_EQ(accesses([&] { (void)ring.wait_for({}); }), "load acquire s7, load acquire s7");
    EXPECT_EQ(accesses([&] { popped = ring.try_pop().has_value(); }),
              "load acquire s7, store release read");
    EXPECT_TRUE(popped);
    EXPECT_EQ(accesses([&] { popped = ring.try_pop().has_value(); }), "load acquire s7");
    EXPECT_EQ(accesses([&] { (void)ring.closed(); }), "load acquire closed");
    EXPECT_EQ(accesses([&] { ring.close(); }), "store release closed");
}

TEST_F(host_order_test, rings_begin_with_words_of_a_lap_before) {
    barmap::ring_to_cpu<small> ring(words_, 2);
    EXPECT_EQ(ring.handle_for_thread().slots[7], ~word{0});
    EXPECT_EQ(ring.handle_for_thread().slots[15], word{0});
}

TEST_F(host_order_test, counters_are_set_behind_what_was_written) {
    barmap::counter_to_gpu there(words_);
    barmap::counter_to_cpu const back(words_);
    name(there.handle_for_thread().value, 1, "there");
    name(back.handle_for_thread().value, 1, "back");
    EXPECT_EQ(accesses([&] { there.advance(3); }), "store release there");
    EXPECT_EQ(accesses([&] { (void)back.value(); }), "load acquire back");
}

TEST_F(host_order_test, a_call_is_taken_behind_its_commit_word_and_answered_last) {
    barmap::rpc_to_cpu<small, small> calls(words_, 1);
    auto const handle = calls.handle_for_thread();
    small value{};
    EXPECT_EQ(call(handle, {}, value, 0), status::timed_out);
    name(handle.requests, 8, "q");
    name(handle.replies, 8, "s");
    name(handle.control + rpc_words::closed_by_cpu, 1, "closed");
    std::uint64_t number = 1;
    EXPECT_EQ(accesses([&] { number = calls.try_take().value().number; }), "load acquire q7");
    EXPECT_EQ(accesses([&] { calls.reply(number, {}); }),
              "store release s0, store release s2, store release s1, store release s3");
    EXPECT_EQ(accesses([&] { calls.close(); }), "store release closed");
}

} // namespace
} // namespace barmap::gpu
