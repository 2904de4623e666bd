// SPDX-License-Identifier: MIT
#include <barmap/gpu/step.cuh>

#include <gtest/gtest.h>

#include <vector>

/// Kernels of steps that wait in vain, with a thread in the place of the block: how long they
/// take, and what they leave.
namespace barmap::step {
namespace {

using gpu::ring_words;
using gpu::status;
using gpu::word;

constexpr unsigned control_words = ring_words::bytes / sizeof(word);
constexpr word slots = 2;

/// Memory of a ring of one word each message, and of a tensor that holds 7.
struct step_kernel_test : testing::Test {
    std::vector<word> ring = std::vector<word>(64), control = std::vector<word>(control_words),
                      credits = control;
    word tensor = 7, failure = 0;
    chunk const whole{reinterpret_cast<unsigned char*>(&tensor), 0, sizeof tensor};
    task of{{ring.data(), control.data(), credits.data(), slots - 1}, &whole, 1, 1, 0,
                  &failure};
    unsigned asked = 0;

    /// Whether to go on when the time is over: so often.
    auto once_more(unsigned times) {
        return [this, times] { return ++asked <= times; };
    }
};

constexpr word timed_out = static_cast<word>(status::timed_out);

TEST_F(step_kernel_test, a_load_gives_up_after_its_time_and_takes_nothing) {
    load(of, once_more(3));
    EXPECT_EQ(asked, 4u);
    EXPECT_EQ(failure, timed_out);
    EXPECT_EQ(tensor, 7u);
    EXPECT_EQ(control[ring_words::cursor], 0u);
    EXPECT_EQ(credits[ring_words::read], 0u);
}

TEST_F(step_kernel_test, a_store_uses_every_slot_and_then_gives_up) {
    for (word k = 1; k <= slots; ++k) {
        store(of, once_more(0));
        EXPECT_EQ(failure, 0u);
        EXPECT_EQ(asked, 0u);
        EXPECT_EQ(credits[ring_words::next], k);
    }
    std::vector<word> const before = ring;
    tensor = 8;
    store(of, once_more(3));
    EXPECT_EQ(asked, 4u);
    EXPECT_EQ(failure, timed_out);
    EXPECT_EQ(ring, before);
    EXPECT_EQ(credits[ring_words::next], slots);
    failure = asked = 0;
    credits[ring_words::read] = 1;
    store(of, once_more(0));
    EXPECT_EQ(failure, 0u);
    EXPECT_EQ(credits[ring_words::next], slots + 1);
    EXPECT_NE(ring, before);
}

TEST_F(step_kernel_test, gpus_do_not_go_on) {
    EXPECT_FALSE(give_up()());
    of.nanoseconds = 1;
    load(of, give_up());
    EXPECT_EQ(failure, timed_out);
}

} // namespace
} // namespace barmap::step
