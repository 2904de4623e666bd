// SPDX-License-Identifier: MIT
// Which barrier stands where (docs/ordering.md, the table of fences), in the instructions that are
// executed: before or behind the accesses to GPU memory, and no other besides.
#include "access_trace.hpp"
#include "counted_routine.hpp"
#include "fake_gpu_memory.hpp"
#include "transfer/cpu/routines.hpp"

#include <barmap/copy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

namespace barmap::copy {
namespace {

constexpr cache_kind kinds[] = {cache_kind::write_combining, cache_kind::cached,
                                cache_kind::uncached};

struct range {
    std::size_t at, bytes;
};
constexpr range words[] = {{64, 1}, {65, 1}, {66, 2}, {68, 4}, {72, 8}};
// Not aligned; not a power of 2; lines, part of one, and more than one.
constexpr range others[] = {{65, 2},  {68, 8},    {64, 3},     {64, 16},  {71, 40},
                            {64, 64}, {64, 1024}, {100, 1000}, {64, 1100}};

class fences : public testing::TestWithParam<std::tuple<copy_routine, cache_kind>> {
protected:
    void SetUp() override {
        if (why_no_trace()) {
            GTEST_SKIP() << why_no_trace();
        }
        if (!supported(std::get<0>(GetParam()))) {
            GTEST_SKIP() << "this CPU or operating system lacks what it needs";
        }
    }
    template <class Run>
    std::string order(Run run) {
        return trace_order({gpu_.begin(), gpu_.size()}, run);
    }
    std::string of_write(range part) {
        return order([&] { write(at(part), {host_.data(), part.bytes}); });
    }
    std::string of_read(range part) {
        return order([&] { read({host_.data(), part.bytes}, at(part)); });
    }
    window at(range part) { return {gpu_.begin() + part.at, part.bytes, &plan_}; }
    [[nodiscard]] bool coherent() const { return plan_.kind == cache_kind::cached; }

    copy_plan plan_ = plan_of_one(std::get<0>(GetParam()), std::get<1>(GetParam()));
    guarded_pages gpu_{4096};
    std::array<std::byte, 2048> host_{};
};

TEST_P(fences, a_write_ends_with_sfence) {
    for (range each : words) {
        EXPECT_EQ(of_write(each), "aS") << each.bytes << " bytes at " << each.at;
    }
    for (range each : others) {
        EXPECT_EQ(of_write(each), "aS") << each.bytes << " bytes at " << each.at;
    }
    EXPECT_EQ(of_write({64, 0}), "S") << "O27";
}

TEST_P(fences, a_fill_ends_with_one_sfence) {
    for (range each : words) {
        EXPECT_EQ(order([&] { fill(at(each), std::byte{1}); }), "aS");
    }
    for (range each : others) {
        EXPECT_EQ(order([&] { fill(at(each), std::byte{1}); }), "aS");
    }
    guarded_pages const large(2 * 4096);
    window const there{large.begin() + 1, 4200, &plan_};
    EXPECT_EQ(trace_order({large.begin(), large.size()}, [&] { fill(there, std::byte{1}); }), "aS");
}

TEST_P(fences, a_read_of_a_word_begins_with_a_locked_instruction) {
    for (range each : words) {
        EXPECT_EQ(of_read(each), coherent() ? "a" : "Ka") << each.bytes << " bytes at " << each.at;
    }
}

TEST_P(fences, any_other_read_begins_with_mfence) {
    // Its own barrier of speculation stands before each of its branches' loads.
    bool const holds_back = std::get<0>(GetParam()).name.starts_with("avx512");
    for (range each : others) {
        std::size_t const lines = (each.at % 64 + each.bytes + 63) / 64;
        std::string const loads = !holds_back ? "a" : lines > 16 ? "LaLa" : "La";
        EXPECT_EQ(of_read(each), (coherent() ? "" : "M") + loads)
            << each.bytes << " bytes at " << each.at;
    }
}

TEST_P(fences, a_read_of_nothing_is_fenced) {
    EXPECT_EQ(of_read({64, 0}), coherent() ? "" : "M") << "O27";
}

TEST_P(fences, a_post_has_none) {
    auto const posted = [&](auto word) { return order([&] { post(at({64, 8}), word); }); };
    EXPECT_EQ(posted(std::uint8_t{1}), "a");
    EXPECT_EQ(posted(std::uint16_t{1}), "a");
    EXPECT_EQ(posted(std::uint32_t{1}), "a");
    EXPECT_EQ(posted(std::uint64_t{1}), "a");
    std::array<std::byte, 64> const line{};
    EXPECT_EQ(order([&] { post_line(at({64, 64}), line); }), "a");
}

TEST_P(fences, read_until_fences_each_read_and_pauses_between) {
    int reads = 0;
    std::string seen = order([&] {
        (void)read_until<std::uint64_t>(
            at({64, 8}), [&](std::uint64_t) { return ++reads == 8; },
            std::chrono::steady_clock::time_point::max());
    });
    std::erase(seen, 'L'); // of reading the clock
    std::string expected;
    for (std::size_t pauses : {1, 2, 4, 8, 16, 16, 16, 0}) {
        expected += (coherent() ? "a" : "Ka") + std::string(pauses, 'P');
    }
    EXPECT_EQ(seen, expected);
}

INSTANTIATE_TEST_SUITE_P(copy, fences,
                         testing::Combine(testing::ValuesIn(all_routines().begin(),
                                                            all_routines().end()),
                                          testing::ValuesIn(kinds)),
                         [](auto const& test) {
                             std::string kind(to_string(std::get<1>(test.param)));
                             std::replace(kind.begin(), kind.end(), '-', '_');
                             return std::string(std::get<0>(test.param).name) + "_" + kind;
                         });

TEST(fence, functions_are_what_they_say) {
    if (why_no_trace()) {
        GTEST_SKIP() << why_no_trace();
    }
    guarded_pages const gpu(4096);
    std::span<std::byte> const memory(gpu.begin(), gpu.size());
    EXPECT_EQ(trace_order(memory, [] { flush_stores(); }), "S");
    EXPECT_EQ(trace_order(memory, [] { order_loads(); }), "M");
    EXPECT_EQ(trace_order(memory, [] { write(window{}, {}); }), "S") << "O27";
    EXPECT_EQ(trace_order(memory, [] { read({}, window{}); }), "M") << "O27";
    EXPECT_EQ(trace_order(memory, [] { fill(window{}, std::byte{}); }), "S") << "O27";
}

// The tracer itself: what it must tell apart.
TEST(trace, knows_each_barrier) {
    if (why_no_trace()) {
        GTEST_SKIP() << why_no_trace();
    }
    guarded_pages const gpu(4096);
    std::span<std::byte> const memory(gpu.begin(), gpu.size());
    auto const at = [&](std::size_t offset) {
        return reinterpret_cast<volatile std::uint64_t*>(gpu.begin() + offset);
    };
    EXPECT_EQ(trace_order(memory, [] { __asm__ volatile("sfence"); }), "S");
    EXPECT_EQ(trace_order(memory, [] { __asm__ volatile("mfence"); }), "M");
    EXPECT_EQ(trace_order(memory, [] { __asm__ volatile("lfence"); }), "L");
    EXPECT_EQ(trace_order(memory, [] { __asm__ volatile("pause"); }), "P");
    EXPECT_EQ(trace_order(memory, [] { __asm__ volatile("nop"); }), "");
    std::uint64_t host = 0;
    EXPECT_EQ(trace_order(memory, [&] { __asm__ volatile("lock incl %0" : "+m"(host)); }), "K");
    EXPECT_EQ(trace_order(memory, [&] { __asm__ volatile("xchg %%r8, %0"
                                                         : "+m"(host)::"r8"); }),
              "K");
    EXPECT_EQ(trace_order(memory, [] { __asm__ volatile("xchg %%r8, %%r8" ::: "r8"); }), "");
    EXPECT_EQ(trace_order(memory,
                          [&] {
                              *at(0) = 1;
                              __asm__ volatile("sfence" ::: "memory");
                              *at(8) = *at(16);
                              __asm__ volatile("lfence" ::: "memory");
                          }),
              "aSaL");
}

} // namespace
} // namespace barmap::copy
