// SPDX-License-Identifier: MIT
// Which queue of a batch engine takes a batch: a stream's batches stay together and hold up no
// other stream's, as long as there are queues.
#include "transfer/engine/queues.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace barmap::engine {
namespace {

struct fake_queue {
    bool idle = true;
    [[nodiscard]] bool is_idle() const { return idle; }
};

constexpr std::size_t of_direction = 3;

class queues_test : public testing::Test {
protected:
    static CUstream stream(std::uintptr_t number) {
        return reinterpret_cast<CUstream>(number * 0x100);
    }
    auto choose(std::uintptr_t number, direction which = direction::to_gpu) {
        return all.choose(stream(number), which);
    }
    /// A batch that has been submitted and waits for its stream.
    fake_queue* submit(std::uintptr_t number, direction which = direction::to_gpu) {
        auto const chosen = choose(number, which);
        chosen->queue->idle = false;
        return chosen->get();
    }

    unsigned opened = 0, may_open = 100;
    queues<fake_queue> all{[this](std::optional<direction>) {
                               if (opened == may_open)
                                   throw std::runtime_error("no more");
                               ++opened;
                               return std::make_unique<fake_queue>();
                           },
                           of_direction};
};

TEST_F(queues_test, batches_without_a_stream_have_a_queue_of_their_own) {
    auto const first = all.choose({}, direction::to_gpu);
    auto const second = all.choose({}, direction::to_cpu);
    EXPECT_EQ(first->get(), second->get());
    EXPECT_NE(first->get(), choose(1)->get());
    EXPECT_EQ(opened, 2U);
}

TEST_F(queues_test, a_stream_keeps_its_queue_and_no_other_stream_gets_it) {
    fake_queue* const first = submit(1);
    fake_queue* const second = submit(2);
    EXPECT_NE(first, second);
    EXPECT_EQ(submit(1), first);
    EXPECT_EQ(submit(2), second);
    first->idle = true;
    EXPECT_EQ(submit(3), first); // whose batches are done
}

TEST_F(queues_test, a_queue_that_was_chosen_is_not_free_before_its_batch_is_in_it) {
    auto const first = choose(1);  // another thread's, which has not submitted yet:
    auto const second = choose(2); // idle queues both
    auto const third = choose(3);
    EXPECT_EQ(std::set({first->get(), second->get(), third->get()}).size(), of_direction);
    EXPECT_FALSE(all.holds_up_nothing(stream(4), direction::to_gpu));
    EXPECT_TRUE(all.holds_up_nothing(stream(1), direction::to_gpu));
    EXPECT_TRUE(all.holds_up_nothing(stream(4), direction::to_cpu));
    EXPECT_TRUE(all.holds_up_nothing({}, direction::to_gpu));
}

TEST_F(queues_test, streams_beyond_the_queues_share_them_in_turn) {
    std::set<fake_queue*> const own{submit(1), submit(2), submit(3)};
    EXPECT_EQ(own.size(), of_direction);
    fake_queue* const shared = submit(4);
    EXPECT_TRUE(own.contains(shared));
    EXPECT_EQ(submit(4), shared); // in the order of its batches
    EXPECT_NE(submit(5), shared);
    EXPECT_FALSE(all.holds_up_nothing(stream(4), direction::to_gpu));
    // A stream that shares leaves as soon as a queue is idle.
    fake_queue* const last = submit(6);
    for (fake_queue* const each : own)
        each->idle = each != shared;
    EXPECT_NE(submit(4), shared);
    EXPECT_TRUE(last);
}

TEST_F(queues_test, directions_share_no_queue) {
    EXPECT_EQ(std::set({submit(1, direction::to_gpu), submit(1, direction::to_cpu),
                        submit(1, direction::among_gpus)})
                  .size(),
              3U);
}

TEST_F(queues_test, a_queue_that_cannot_be_opened_leaves_its_work_to_another) {
    may_open = 1;
    fake_queue* const only = submit(1);
    EXPECT_EQ(submit(2), only);
    EXPECT_EQ(submit(3, direction::to_cpu), only);
    EXPECT_EQ(opened, 1U);
}

TEST_F(queues_test, a_queue_that_cannot_be_opened_is_an_error_without_another) {
    may_open = 0;
    EXPECT_THROW(submit(1), std::runtime_error);
    EXPECT_THROW((void)all.choose({}, direction::to_gpu), std::runtime_error);
    may_open = 1;
    EXPECT_TRUE(submit(1)); // tries again
}

TEST_F(queues_test, what_is_opened_at_once_is_all_that_is_opened) {
    may_open = 2;
    all.open_all();
    EXPECT_EQ(opened, 2U);
    may_open = 100;
    EXPECT_NE(submit(1), submit(2));
    EXPECT_TRUE(submit(3));
    EXPECT_TRUE(submit(4, direction::to_cpu)); // has none of its own
    EXPECT_EQ(opened, 2U);
    EXPECT_FALSE(all.holds_up_nothing(stream(5), direction::to_gpu));
    EXPECT_FALSE(all.holds_up_nothing(stream(5), direction::to_cpu));
}

} // namespace
} // namespace barmap::engine
