// SPDX-License-Identifier: MIT
// The C interface's own barriers, in the instructions that are executed.
#include "access_trace.hpp"

#include <barmap/barmap.h>

#include <array>
#include <gtest/gtest.h>

namespace {

alignas(4096) std::array<std::byte, 4096> page;

TEST(fences, are_those_of_their_names) {
    if (barmap::copy::why_no_trace())
        GTEST_SKIP() << barmap::copy::why_no_trace();
    EXPECT_EQ(barmap::copy::trace_order(page, [] { barmap_flush_stores(); }), "S");
    EXPECT_EQ(barmap::copy::trace_order(page, [] { barmap_order_loads(); }), "M");
}

} // namespace
