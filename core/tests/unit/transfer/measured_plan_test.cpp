// SPDX-License-Identifier: MIT
#include "cpu/fake_gpu_memory.hpp"
#include "transfer/cpu/routines.hpp"
#include "transfer/measured_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

namespace barmap::copy {
namespace {

// Kernels that move nothing, and a clock that only they put forward.
std::int64_t fake_time = 0;
std::int64_t fake_now() noexcept {
    return fake_time;
}
std::size_t largest_store = 0;

template <int Nanoseconds>
void takes(void*, void const*, std::size_t) noexcept {
    fake_time += Nanoseconds;
}
template <int Below, int From>
void changes_at_1024(void*, void const*, std::size_t bytes) noexcept {
    fake_time += bytes < 1024 ? Below : From;
}
template <int PerByte>
void takes_per_byte(void*, void const*, std::size_t bytes) noexcept {
    fake_time += PerByte * static_cast<std::int64_t>(bytes);
    largest_store = std::max(largest_store, bytes);
}

constexpr copy_routine fast{"fast", 0, 8, takes<200>, takes<900>};
constexpr copy_routine slow{"slow", 0, 8, takes<900>, takes<200>};
constexpr copy_routine small{"small", 0, 8, changes_at_1024<150, 120>, takes<200>};
constexpr copy_routine large{"large", 0, 8, changes_at_1024<160, 110>, takes<200>};

copy_plan measured(std::initializer_list<copy_routine const*> routines, std::size_t bytes) {
    guarded_pages const pages(std::max<std::size_t>(bytes, 1));
    largest_store = 0;
    return measure_plan_among({routines.begin(), routines.size()}, {pages.begin(), bytes},
                              cache_kind::cached, fake_now);
}

TEST(measured_plan, chooses_each_direction_by_itself) {
    copy_plan const plan = measured({&slow, &fast}, 4096);
    for (std::size_t bytes : {16, 64, 1024, 4096, 1 << 20}) {
        EXPECT_EQ(plan.store[size_class(bytes)]->name, "fast") << bytes;
        EXPECT_EQ(plan.load[size_class(bytes)]->name, "slow") << bytes;
    }
}

TEST(measured_plan, chooses_each_size_by_itself_and_lets_larger_ones_inherit) {
    copy_plan const plan = measured({&large, &small}, 4096);
    EXPECT_EQ(plan.store[size_class(16)]->name, "small");
    EXPECT_EQ(plan.store[size_class(512)]->name, "small");
    EXPECT_EQ(plan.store[size_class(1024)]->name, "large");
    EXPECT_EQ(plan.store[size_class(1 << 30)]->name, "large");
    EXPECT_EQ(plan.load[size_class(1024)]->name, "large") << "one load under two names: the first";
}

int loads = 0;
void counts_itself(void*, void const*, std::size_t) noexcept {
    fake_time += 200;
    ++loads;
}

TEST(measured_plan, measures_a_shared_load_once) {
    constexpr copy_routine one{"one", 0, 8, takes<200>, counts_itself};
    constexpr copy_routine other{"other", 0, 8, takes<300>, counts_itself};
    (void)measured({&one}, 4096);
    int const alone = std::exchange(loads, 0);
    (void)measured({&one, &other}, 4096);
    EXPECT_GT(alone, 0);
    EXPECT_EQ(loads, alone);
}

int transfers_of[3];
template <int Which>
void counts_its_transfers(void*, void const*, std::size_t) noexcept {
    fake_time += 200;
    ++transfers_of[Which];
}

TEST(measured_plan, measures_each_of_three_as_often) {
    constexpr copy_routine one{"one", 0, 8, counts_its_transfers<0>, takes<200>};
    constexpr copy_routine two{"two", 0, 8, counts_its_transfers<1>, takes<200>};
    constexpr copy_routine three{"three", 0, 8, counts_its_transfers<2>, takes<200>};
    (void)measured({&one, &two, &three}, 16);
    constexpr int guesses = 4; // two looks at one size, and before it for nothing
    EXPECT_GT(transfers_of[1], 0);
    EXPECT_EQ(transfers_of[2], transfers_of[1]);
    EXPECT_EQ(transfers_of[0], transfers_of[1] + guesses);
}

TEST(measured_plan, leaves_out_what_was_hopeless_at_smaller_sizes) {
    constexpr copy_routine steady{"steady", 0, 8, takes<1000>, takes<200>};
    constexpr copy_routine byte_by_byte{"byte_by_byte", 0, 8, takes_per_byte<10>, takes<200>};
    copy_plan const plan = measured({&steady, &byte_by_byte}, 1 << 20);
    EXPECT_EQ(plan.store[size_class(64)]->name, "byte_by_byte");
    EXPECT_EQ(plan.store[size_class(128)]->name, "steady");
    EXPECT_EQ(largest_store, 256u) << "more than twice the best at 256 bytes, so never larger";
}

TEST(measured_plan, keeps_to_its_time) {
    constexpr copy_routine link{"link", 0, 8, takes_per_byte<1>, takes_per_byte<10>};
    std::int64_t const begin = fake_time;
    (void)measured({&link}, 1 << 20);
    EXPECT_LE(fake_time - begin, 10'000'000);
    EXPECT_GE(largest_store, 65536u);
}

// Noise. What disturbs a transfer makes it longer.
std::int64_t disturbed_from = 0, disturbed_to = 0;
/// As a link has it: so many nanoseconds, and so many bytes in each further one.
template <int Nanoseconds, int BytesEach>
void moves(void*, void const*, std::size_t bytes) noexcept {
    fake_time += Nanoseconds + static_cast<std::int64_t>(bytes) / BytesEach;
}
template <int Nanoseconds, int BytesEach>
void moves_slowly_for_a_while(void*, void const*, std::size_t bytes) noexcept {
    bool const disturbed = fake_time >= disturbed_from && fake_time < disturbed_to;
    moves<Nanoseconds, BytesEach>(nullptr, nullptr, bytes);
    if (disturbed) {
        moves<Nanoseconds, BytesEach>(nullptr, nullptr, bytes);
    }
}
std::minstd_rand noise_source;
template <int Nanoseconds>
void takes_longer_at_times(void*, void const*, std::size_t) noexcept {
    fake_time += noise_source() % 100 < 1 ? 20 * Nanoseconds : Nanoseconds;
}

TEST(measured_plan, does_not_believe_one_disturbed_moment) {
    constexpr copy_routine best{"best", 0, 8, moves_slowly_for_a_while<100, 20>,
                                moves_slowly_for_a_while<1000, 1>};
    constexpr copy_routine other{"other", 0, 8, moves<120, 16>, moves<1200, 1>};
    // Wherever a part of the time is disturbed, and for the best routine alone.
    for (std::int64_t from = -2'000'000; from < 8'000'000; from += 250'000) {
        disturbed_from = fake_time + from;
        disturbed_to = disturbed_from + 2'000'000;
        copy_plan const plan = measured({&other, &best}, 1 << 20);
        for (std::size_t bytes = 16; bytes <= 4096; bytes *= 2) {
            ASSERT_EQ(plan.store[size_class(bytes)]->name, "best") << bytes << ", " << from;
            ASSERT_EQ(plan.load[size_class(bytes)]->name, "best") << bytes << ", " << from;
        }
    }
}

TEST(measured_plan, sees_through_transfers_that_are_disturbed_now_and_then) {
    constexpr copy_routine best{"best", 0, 8, takes_longer_at_times<1000>,
                                takes_longer_at_times<1000>};
    constexpr copy_routine other{"other", 0, 8, takes<1100>, takes<1100>};
    for (unsigned seed = 1; seed <= 20; ++seed) {
        noise_source.seed(seed);
        copy_plan const plan = measured({&other, &best}, 1 << 20);
        for (std::size_t bytes = 16; bytes <= 1 << 20; bytes *= 2) {
            ASSERT_EQ(plan.store[size_class(bytes)]->name, "best") << bytes << ", seed " << seed;
            ASSERT_EQ(plan.load[size_class(bytes)]->name, "best") << bytes << ", seed " << seed;
        }
    }
}

// The first of four samples, of thirty transfers each, is the only one in which it is fast.
int transfers_of_lucky = 0;
void is_fast_in_one_sample_of_four(void*, void const*, std::size_t) noexcept {
    fake_time += transfers_of_lucky++ % 120 < 30 ? 150 : 250;
}

TEST(measured_plan, one_lucky_sample_does_not_decide) {
    constexpr copy_routine steady{"steady", 0, 8, takes<200>, takes<200>};
    constexpr copy_routine lucky{"lucky", 0, 8, is_fast_in_one_sample_of_four, takes<200>};
    copy_plan const plan = measured({&steady, &lucky}, 4096);
    ASSERT_EQ(transfers_of_lucky % 120, 0) << "samples are not what this test takes them for";
    for (std::size_t bytes = 16; bytes <= 4096; bytes *= 2) {
        EXPECT_EQ(plan.store[size_class(bytes)]->name, "steady") << bytes;
    }
}

TEST(measured_plan, falls_back_on_the_preferred_routine_without_scratch) {
    for (std::size_t bytes : {0, 1, 15}) {
        std::int64_t const before = fake_time;
        copy_plan const plan = measured({&slow, &fast}, bytes);
        EXPECT_EQ(plan.store[size_class(64)]->name, "slow");
        EXPECT_EQ(plan.load[size_class(64)]->name, "slow");
        EXPECT_EQ(fake_time, before) << "nothing is transferred";
    }
}

TEST(measured_plan, plans_with_the_routines_of_this_cpu_inside_the_scratch) {
    for (std::size_t bytes : {std::size_t{16}, std::size_t{5000}, std::size_t{1} << 20}) {
        guarded_pages const pages(bytes);
        copy_plan const plan = measure_plan({pages.begin(), bytes}, cache_kind::write_combining);
        EXPECT_EQ(plan.kind, cache_kind::write_combining);
        EXPECT_NE(plan.post_word, nullptr);
        EXPECT_NE(plan.post_line, nullptr);
        for (std::size_t i = 0; i < size_classes; ++i) {
            ASSERT_NE(plan.store[i], nullptr);
            ASSERT_NE(plan.load[i], nullptr);
            EXPECT_TRUE(supported(*plan.store[i]));
            EXPECT_TRUE(supported(*plan.load[i]));
        }
        EXPECT_TRUE(std::all_of(pages.begin() + bytes, pages.end(), [](std::byte b) {
            return b == std::byte{};
        })) << "it wrote behind the scratch";
    }
}

} // namespace
} // namespace barmap::copy
