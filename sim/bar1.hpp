// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace barmap::sim {

struct device;
class physical;

/// Whether a dma-buf of that many bytes still fits into the device's BAR1, where BARMAP_SIM_BAR1
/// limits it. Memory that this process has mapped counts as used, and so does memory that it
/// has exported, holds a descriptor of, and has not mapped yet. Other processes do not count.
/// Under the world's mutex.
[[nodiscard]] bool fits_bar1(device const& of, std::uint64_t bytes);

/// Notes a descriptor that was exported as a dma-buf.
void count_export(device& of, physical const& memory, int fd, std::uint64_t bytes);

} // namespace barmap::sim
