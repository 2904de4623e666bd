// SPDX-License-Identifier: MIT
#include "base/failure_report.hpp"

#include "shared/cancelled_thread.hpp"

#include <gtest/gtest.h>
#include <stdexcept>

/// What a start that fails leaves in its report, and what it lets through.
namespace barmap {
namespace {

template <class Failure>
backend_report report_of(Failure const& failure) {
    backend_report report;
    try {
        throw failure;
    } catch (...) {
        record_failure(report);
    }
    return report;
}

TEST(failure_report, has_state_reason_and_advice) {
    backend_report const absent = report_of(error(errc::backend_absent, "open it", "", "load it"));
    EXPECT_EQ(absent.state, backend_state::absent);
    EXPECT_EQ(absent.reason, "cannot open it");
    EXPECT_EQ(absent.advice, "load it");
    backend_report const broken = report_of(error(errc::bar1_exhausted, "map it", "", ""));
    EXPECT_EQ(broken.state, backend_state::broken);
    EXPECT_EQ(broken.reason, "cannot map it: " + make_error_code(errc::bar1_exhausted).message());
    backend_report const odd = report_of(std::runtime_error("odd"));
    EXPECT_EQ(odd.state, backend_state::broken);
    EXPECT_EQ(odd.reason, "odd");
}

TEST(failure_report, says_nothing_where_memory_is_exhausted) {
    EXPECT_THROW((void)report_of(std::bad_alloc()), std::bad_alloc);
}

// The C library ends a process that keeps a cancelled thread from its end.
TEST(failure_report, lets_a_cancelled_thread_end) {
    EXPECT_FALSE(test::returns_to_a_cancelled_thread([] {
        backend_report report;
        try {
            ::pthread_testcancel();
        } catch (...) {
            record_failure(report);
        }
    }));
}

} // namespace
} // namespace barmap
