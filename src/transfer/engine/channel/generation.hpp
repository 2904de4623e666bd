// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// What differs between GPUs and between drivers, as tables. What is not in them makes the engine
/// absent: nothing is guessed.
namespace barmap::engine {

/// The classes of one generation of GPUs. Source: NVIDIA's open-gpu-kernel-modules, class/cl*.h.
struct generation {
    std::string_view name;
    std::uint32_t channel, copy, usermode;
    bool usermode_parameters; ///< the user-mode page can be asked for through BAR1
    /// What the channel itself reads may be above 2^40: entries, methods, words that it waits for.
    bool high_entries;
};

/// The generation whose classes a GPU has. @throws error errc::backend_absent if none is known
[[nodiscard]] generation const& generation_of(std::span<std::uint32_t const> classes);

/// How the structures of one series of the driver differ.
struct driver_series {
    unsigned number = 0; ///< 580 of "580.159.04"
    [[nodiscard]] bool long_unmap() const noexcept { return number >= 550; }
    [[nodiscard]] bool long_schedule() const noexcept { return number >= 575; }
    [[nodiscard]] bool long_map() const noexcept { return number >= 580; }
    /// The unified memory driver wants the GPU's UUID to unregister a channel.
    [[nodiscard]] bool long_unregister() const noexcept { return number < 590; }
    /// A field more before userd_memory in channel_parameters.
    [[nodiscard]] bool shifted_channel() const noexcept { return number >= 610; }
};

/// @throws error errc::backend_absent for a series that is not known
[[nodiscard]] driver_series series_of(std::string_view driver_version);

} // namespace barmap::engine
