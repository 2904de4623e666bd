// SPDX-License-Identifier: MIT
#pragma once

#include "measure/compared_copies.hpp"
#include "output/report.hpp"

namespace barmap::tool {

/// lat --compare: every method with each kind of host memory, and every copy routine.
void compare(report& out, opened_gpu const& gpu, compared_copies& copies,
             std::vector<std::size_t> const& sizes, options const& values);

/// A fresh 8-byte read beside a plain 8-byte load.
void measure_read8(report& out, compared_copies& copies, double budget_s);
/// The cost of issuing one doorbell: 8 and 64 bytes, to new lines and to the same one.
void measure_posts(report& out, compared_copies& copies, double budget_s);

} // namespace barmap::tool
