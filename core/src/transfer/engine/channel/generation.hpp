// SPDX-License-Identifier: MIT
#pragma once

#include "driver/rm/client.hpp"

#include <cstdint>
#include <span>
#include <string_view>

/// A table of the differences between GPUs. The engine is absent for GPUs outside it, and for
/// drivers outside driver_series.
namespace barmap::engine {

/// The classes of one generation of GPUs. Source: NVIDIA's open-gpu-kernel-modules, class/cl*.h.
struct generation {
    std::string_view name;
    std::uint32_t channel, copy, usermode;
    bool usermode_parameters; ///< the driver can map the user-mode page through BAR1
    /// Entries, methods and semaphore words may lie above 2^40.
    bool high_entries;
    bool semaphores_of_8; ///< the copy engine can release semaphores of 8 bytes
};

/// The generation that matches a GPU's classes. @throws error errc::backend_absent if none does
[[nodiscard]] generation const& generation_of(std::span<std::uint32_t const> classes);

/// The series of the client's driver. @throws error errc::backend_absent for an unknown one
[[nodiscard]] rm::driver_series expect_series(rm::client const& client);

} // namespace barmap::engine
