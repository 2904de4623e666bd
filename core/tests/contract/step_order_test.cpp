// SPDX-License-Identifier: MIT
#include <barmap/gpu/step.cuh>

#include <array>
#include <gtest/gtest.h>
#include <string>

/// The order of what the kernels of steps load and store, as memory_order_test.cpp has it of rings.
namespace barmap::step {
namespace {

using gpu::ring_words;
using gpu::word;
using noted::accesses;

class step_order_test : public testing::Test {
protected:
    step_order_test() {
        noted::trace.places = {
            {slots_.data(), slots_.size(), "s"},
            {&control_[ring_words::cursor], 1, "cursor"},
            {&credits_[ring_words::read], 1, "read"},
            {&credits_[ring_words::next], 1, "next"},
            {&failures_, 1, "failures"},
        };
    }
    /// Of a ring of one slot, and a tensor of so many words.
    task of(word words) {
        whole_ = {reinterpret_cast<unsigned char*>(tensor_.data()), 0, words * sizeof(word)};
        return {{slots_.data(), control_.data(), credits_.data(), 0}, &whole_, 1, words, 0, &failures_};
    }

    std::array<word, 16> slots_{};
    std::array<word, 8> control_{}, credits_{};
    std::array<word, 2> tensor_{};
    word failures_ = 0;
    chunk whole_{};
};

TEST_F(step_order_test, a_load_reads_behind_the_commit_words_and_gives_its_credit_last) {
    slots_[1] = slots_[3] = 1;
    EXPECT_EQ(accesses([&] { load(of(2), give_up{}); }),
              "load relaxed cursor, load acquire s1, load acquire s3, load relaxed s0, "
              "load relaxed s2, store relaxed cursor, store release read");
    EXPECT_EQ(accesses([&] { load(of(2), give_up{}); }),
              "load relaxed cursor, load acquire s1, store release failures");
}

TEST_F(step_order_test, a_store_writes_behind_the_credit_and_commits_last) {
    EXPECT_EQ(accesses([&] { store(of(2), give_up{}); }),
              "load relaxed next, load acquire read, store relaxed s0, store relaxed s1, "
              "fence acq_rel, store release s7, store relaxed next");
    EXPECT_EQ(accesses([&] { store(of(2), give_up{}); }),
              "load relaxed next, load acquire read, store release failures");
}

TEST_F(step_order_test, a_store_of_one_word_is_a_pair) {
    EXPECT_EQ(accesses([&] { store(of(1), give_up{}); }),
              "load relaxed next, load acquire read, store relaxed s0, store release s1, "
              "store relaxed next");
}

} // namespace
} // namespace barmap::step
