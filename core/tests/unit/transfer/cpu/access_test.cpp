// SPDX-License-Identifier: MIT
// What the compiled routines do to GPU memory, instruction by instruction.
#include "access_trace.hpp"
#include "counted_routine.hpp"
#include "fake_gpu_memory.hpp"
#include "transfer/cpu/routines.hpp"

#include <barmap/copy.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <string>

namespace barmap::copy {
namespace {

using addresses = std::vector<std::uintptr_t>;

class accesses : public testing::TestWithParam<copy_routine> {
protected:
    void SetUp() override {
        if (why_no_trace()) {
            GTEST_SKIP() << why_no_trace();
        }
        if (!supported(GetParam())) {
            GTEST_SKIP() << "this CPU or operating system lacks what " << GetParam().name
                         << " needs";
        }
    }
    addresses of_write(std::size_t at, std::size_t bytes) {
        return trace_accesses({gpu_.begin(), gpu_.size()}, [&] {
            write({gpu_.begin() + at, bytes, &plan_}, {host_.data(), bytes});
        });
    }
    addresses of_read(std::size_t at, std::size_t bytes) {
        return trace_accesses({gpu_.begin(), gpu_.size()}, [&] {
            read({host_.data(), bytes}, {gpu_.begin() + at, bytes, &plan_});
        });
    }

    copy_plan plan_ = plan_of_one(GetParam(), cache_kind::write_combining);
    guarded_pages gpu_{4096};
    std::array<std::byte, 512> host_{};
};

TEST_P(accesses, an_aligned_word_is_one_access) {
    for (std::size_t word : {1, 2, 4, 8}) {
        for (std::size_t at = 0; at < 128; at += word) {
            ASSERT_EQ(of_write(at, word), addresses{at}) << word << " bytes";
            ASSERT_EQ(of_read(at, word), addresses{at}) << word << " bytes";
        }
        // Here an access that is wider than it should be leaves the page.
        ASSERT_EQ(of_write(4096 - word, word), addresses{4096 - word});
        ASSERT_EQ(of_read(4096 - word, word), addresses{4096 - word});
    }
}

TEST_P(accesses, an_edge_that_is_a_word_is_read_without_the_rest_of_its_line) {
    if (GetParam().width <= 32) { // in a larger line, it is no word
        EXPECT_EQ(of_read(88, 8 + 32).front(), 88u);
    }
}

// Where every byte arrives (routine_test.cpp) and accesses only go up, an access is as wide as the
// way to the next one, or else two overlap and some width is no power of two or not aligned.
void expect_aligned_and_disjoint(addresses const& at, std::size_t end) {
    for (std::size_t i = 0; i < at.size(); ++i) {
        std::size_t const next = i + 1 < at.size() ? at[i + 1] : end;
        ASSERT_GT(next, at[i]);
        ASSERT_TRUE(std::has_single_bit(next - at[i])) << at[i] << " to " << next;
        ASSERT_LE(next - at[i], 64u);
        ASSERT_EQ(at[i] % (next - at[i]), 0u) << at[i] << " to " << next;
    }
}

TEST_P(accesses, are_naturally_aligned_and_do_not_overlap) {
    bool const by_bytes = GetParam().name == "erms"; // single-stepped, REP MOVSB goes byte by byte
    for (std::size_t bytes = 0; bytes < 258; bytes += bytes < 40 ? 1 : 7) {
        for (std::size_t at : {64, 65, 72, 91, 96, 126, 127}) {
            addresses const stores = of_write(at, bytes);
            if (!by_bytes) {
                expect_aligned_and_disjoint(stores, at + bytes);
            }
            // An edge is read with the whole of its line.
            addresses const loads = of_read(at, bytes);
            for (std::size_t i = 1; i < loads.size(); ++i) {
                ASSERT_GT(loads[i], loads[i - 1]);
            }
            ASSERT_TRUE(bytes == 0 || (loads.front() <= at && loads.front() / 64 == at / 64));
            ASSERT_FALSE(HasFatalFailure()) << bytes << " bytes at " << at;
        }
    }
}

TEST_P(accesses, a_line_takes_as_many_as_the_width_says) {
    if (GetParam().name != "erms") {
        EXPECT_EQ(of_write(64, 64).size(), 64 / GetParam().width);
    }
    EXPECT_LE(of_read(64, 64).size(), 8u);
}

// A piece of a constant ends where a line does, so that no line is cut in two.
TEST_P(accesses, of_fill_are_those_of_one_write) {
    if (GetParam().name == "erms") {
        GTEST_SKIP() << "single-stepped, REP MOVSB goes byte by byte";
    }
    guarded_pages const gpu(3 * 4096);
    auto const of = [&](auto move) { return trace_accesses({gpu.begin(), gpu.size()}, move); };
    std::vector<std::byte> const host(9000);
    for (std::size_t bytes : {8, 7, 100, 4096, 4160, 9000}) {
        for (std::size_t at : {64, 120}) {
            window const there{gpu.begin() + at, bytes, &plan_};
            EXPECT_EQ(of([&] { fill(there, std::byte{1}); }), of([&] {
                          write(there, {host.data(), bytes});
                      }))
                << bytes << " bytes at " << at;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(copy, accesses,
                         testing::ValuesIn(all_routines().begin(), all_routines().end()),
                         [](auto const& routine) { return std::string(routine.param.name); });

TEST(access_of_post, is_one_for_a_word) {
    if (why_no_trace()) {
        GTEST_SKIP() << why_no_trace();
    }
    guarded_pages const gpu(4096);
    for (cache_kind kind :
         {cache_kind::write_combining, cache_kind::cached, cache_kind::uncached}) {
        copy_plan const plan = plan_of_one(all_routines().back(), kind);
        window const there{gpu.begin() + 64, 64, &plan};
        auto const trace = [&](auto word) {
            return trace_accesses({gpu.begin(), gpu.size()},
                                  [&] { post(there.subwindow(8), word); });
        };
        EXPECT_EQ(trace(std::uint8_t{1}), addresses{72});
        EXPECT_EQ(trace(std::uint16_t{1}), addresses{72});
        EXPECT_EQ(trace(std::uint32_t{1}), addresses{72});
        EXPECT_EQ(trace(std::uint64_t{1}), addresses{72});
    }
}

TEST(access_of_post, is_one_for_a_line_where_the_cpu_can) {
    if (why_no_trace()) {
        GTEST_SKIP() << why_no_trace();
    }
    guarded_pages const gpu(4096);
    std::array<std::byte, 64> const line{};
    copy_plan const plan = plan_of_one(all_routines().back(), cache_kind::write_combining);
    auto const seen = trace_accesses({gpu.begin(), gpu.size()}, [&] {
        post_line({gpu.begin() + 64, 64, &plan}, line);
    });
    bool wide = false;
    for (copy_routine const& routine : all_routines()) {
        wide = wide || (routine.width == 64 && routine.name != "erms" && supported(routine));
    }
    EXPECT_EQ(seen.size(), wide ? 1u : 8u);
}

} // namespace
} // namespace barmap::copy
