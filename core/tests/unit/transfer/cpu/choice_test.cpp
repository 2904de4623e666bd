// SPDX-License-Identifier: MIT
#include "base/config.hpp"
#include "shared/caught.hpp"
#include "transfer/cpu/cpu.hpp"
#include "transfer/cpu/routines.hpp"

#include <barmap/error.hpp>
#include <barmap/report.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

namespace barmap::copy {
namespace {

using test::caught;

class copy_choice : public testing::Test {
protected:
    void SetUp() override { ask_for(nullptr); }
    void TearDown() override { ask_for(nullptr); }
    static void ask_for(char const* routine) {
        routine ? setenv("BARMAP_COPY", routine, 1) : unsetenv("BARMAP_COPY");
        config::read_again();
    }
};

TEST_F(copy_choice, has_distinct_names_and_ends_with_the_routine_that_needs_nothing) {
    std::set<std::string_view> names;
    for (copy_routine const& routine : all_routines()) {
        EXPECT_TRUE(names.insert(routine.name).second) << routine.name;
        EXPECT_NE(routine.name, "auto");
    }
    EXPECT_EQ(all_routines().back().name, "portable");
    EXPECT_TRUE(supported(all_routines().back()));
}

TEST_F(copy_choice, reports_every_routine) {
    auto const reports = copy_routines();
    ASSERT_EQ(reports.size(), all_routines().size());
    for (std::size_t i = 0; i < reports.size(); ++i) {
        EXPECT_EQ(reports[i].name, all_routines()[i].name);
        EXPECT_EQ(reports[i].supported, supported(all_routines()[i]));
        EXPECT_EQ(reports[i].needs, describe(all_routines()[i].needs));
    }
}

TEST_F(copy_choice, finds_a_routine_by_name_or_says_what_is_missing) {
    for (copy_routine const& routine : all_routines()) {
        if (supported(routine)) {
            EXPECT_EQ(&find_routine(routine.name), &routine);
        } else {
            error const refusal = caught([&] { return &find_routine(routine.name); });
            EXPECT_EQ(refusal.code(), errc::unsupported_operation);
            EXPECT_NE(refusal.advice().find(describe(routine.needs & ~this_cpu())),
                      std::string::npos);
        }
    }
}

TEST_F(copy_choice, refuses_what_a_lesser_cpu_lacks) {
    for (copy_routine const& routine : all_routines()) {
        EXPECT_EQ(&find_routine(routine.name, routine.needs), &routine);
        for (cpu_features bit = 1; bit <= routine.needs; bit <<= 1) {
            if ((routine.needs & bit) == 0) {
                continue;
            }
            error const refusal =
                caught([&] { return &find_routine(routine.name, routine.needs & ~bit); });
            EXPECT_EQ(refusal.code(), errc::unsupported_operation) << routine.name;
            EXPECT_NE(refusal.advice().find("it needs " + describe(bit) + ","), std::string::npos)
                << refusal.advice();
        }
    }
    EXPECT_EQ(&find_routine("portable", 0), &all_routines().back());
}

TEST_F(copy_choice, leaves_what_faults_on_some_memory_to_those_who_ask) {
    for (copy_routine const& routine : all_routines()) {
        EXPECT_EQ(only_when_asked_for(routine), routine.name == "ls64") << routine.name;
    }
}

TEST_F(copy_choice, lists_the_names_when_one_is_unknown) {
    for (std::string_view name : {"", "AVX512", "avx51", "auto", "nonsense"}) {
        error const refusal = caught([&] { return &find_routine(name); });
        EXPECT_EQ(refusal.code(), errc::invalid_argument);
        for (copy_routine const& routine : all_routines()) {
            EXPECT_NE(refusal.advice().find(routine.name), std::string::npos) << refusal.advice();
        }
    }
}

TEST_F(copy_choice, is_not_forced_without_a_value) {
    EXPECT_EQ(routine_forced_by_environment(), nullptr);
    for (char const* value : {"", "auto"}) {
        ask_for(value);
        EXPECT_EQ(routine_forced_by_environment(), nullptr);
    }
}

TEST_F(copy_choice, obeys_the_environment_or_fails) {
    for (copy_routine const& routine : all_routines()) {
        ask_for(std::string(routine.name).c_str());
        if (supported(routine)) {
            EXPECT_EQ(routine_forced_by_environment(), &routine);
        } else {
            EXPECT_EQ(caught([] { return routine_forced_by_environment(); }).code(),
                      errc::unsupported_operation);
        }
    }
    ask_for("nonsense");
    error const refusal = caught([] { return routine_forced_by_environment(); });
    EXPECT_EQ(refusal.code(), errc::invalid_argument);
    EXPECT_NE(refusal.operation().find("BARMAP_COPY=nonsense"), std::string::npos);
}

TEST_F(copy_choice, gives_a_plan_the_fences_and_posts_of_each_kind) {
    copy_routine const& routine = all_routines().front();
    for (cache_kind measured : {cache_kind::write_combining, cache_kind::cached}) {
        for (cache_kind kind : {cache_kind::write_combining, cache_kind::cached}) {
            copy_plan const plan = plan_for_kind(plan_of_one(routine, measured), kind);
            copy_plan const expected = plan_of_one(routine, kind);
            EXPECT_EQ(plan.kind, kind);
            EXPECT_EQ(plan.store, expected.store);
            EXPECT_EQ(plan.post_word, expected.post_word);
            EXPECT_EQ(plan.post_line, expected.post_line);
            EXPECT_EQ(plan.head.direct_words, expected.head.direct_words);
            EXPECT_EQ(plan.head.direct_lines, expected.head.direct_lines);
        }
    }
}

#if defined(__x86_64__)
// A doorbell in the GPU's memory should leave at once; elsewhere a plain store does.
TEST_F(copy_choice, posts_by_direct_stores_where_the_cpu_has_them) {
    for (cache_kind kind :
         {cache_kind::write_combining, cache_kind::cached, cache_kind::uncached}) {
        auto const plan_on = [&](cpu_features cpu) {
            copy_plan plan{};
            plan.kind = kind;
            choose_posts(plan, cpu);
            return plan;
        };
        copy_plan const plain = plan_on(0);
        EXPECT_FALSE(plain.head.direct_words);
        EXPECT_FALSE(plain.head.direct_lines);
        for (cpu_features cpu : {feature::movdiri, feature::movdir64b}) {
            copy_plan const plan = plan_on(cpu);
            bool const direct = kind == cache_kind::write_combining;
            bool const words = direct && cpu == feature::movdiri;
            bool const lines = direct && cpu == feature::movdir64b;
            EXPECT_EQ(plan.head.direct_words, words);
            EXPECT_EQ(plan.head.direct_lines, lines);
            EXPECT_EQ(plan.post_word != plain.post_word, words);
            EXPECT_EQ(plan.post_line != plain.post_line, lines);
        }
    }
}
#endif

TEST_F(copy_choice, plans_one_routine_for_everything) {
    copy_routine const& routine = all_routines().front();
    for (cache_kind kind :
         {cache_kind::write_combining, cache_kind::cached, cache_kind::uncached}) {
        copy_plan const plan = plan_of_one(routine, kind);
        EXPECT_EQ(plan.kind, kind);
        EXPECT_NE(plan.post_word, nullptr);
        EXPECT_NE(plan.post_line, nullptr);
        for (std::size_t i = 0; i < size_classes; ++i) {
            EXPECT_EQ(plan.store[i], &routine);
            EXPECT_EQ(plan.load[i], &routine);
        }
    }
}

TEST_F(copy_choice, sorts_sizes_into_classes) {
    EXPECT_EQ(size_class(0), 0u);
    EXPECT_EQ(size_class(1), 1u);
    EXPECT_EQ(size_class(64), size_class(127));
    EXPECT_NE(size_class(64), size_class(63));
    EXPECT_EQ(size_class(~std::size_t{0}), size_classes - 1);
}

} // namespace
} // namespace barmap::copy
