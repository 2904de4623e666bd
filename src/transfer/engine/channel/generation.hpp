// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// Tables of the differences between GPUs and between drivers. The engine is absent for GPUs and
/// drivers outside them.
namespace barmap::engine {

/// The classes of one generation of GPUs. Source: NVIDIA's open-gpu-kernel-modules, class/cl*.h.
struct generation {
    std::string_view name;
    std::uint32_t channel, copy, usermode;
    bool usermode_parameters; ///< the driver can map the user-mode page through BAR1
    /// Entries, methods and semaphore words may lie above 2^40.
    bool high_entries;
};

/// The generation that matches a GPU's classes. @throws error errc::backend_absent if none does
[[nodiscard]] generation const& generation_of(std::span<std::uint32_t const> classes);

/// The structures of one driver series.
struct driver_series {
    unsigned number = 0; ///< 580 of "580.159.04"
    [[nodiscard]] bool long_unmap() const noexcept { return number >= 550; }
    [[nodiscard]] bool long_schedule() const noexcept { return number >= 575; }
    [[nodiscard]] bool long_map() const noexcept { return number >= 580; }
    /// The unified memory driver requires the GPU's UUID to unregister a channel.
    [[nodiscard]] bool long_unregister() const noexcept { return number < 590; }
    /// channel_parameters has an additional field before userd_memory.
    [[nodiscard]] bool shifted_channel() const noexcept { return number >= 610; }
};

/// @throws error errc::backend_absent for an unknown series
[[nodiscard]] driver_series series_of(std::string_view driver_version);

} // namespace barmap::engine
