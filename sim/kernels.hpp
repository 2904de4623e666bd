// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace barmap::sim {

/// A kernel that the simulated GPU can run: it executes no PTX, but has its own code for the
/// kernels that barmap ships.
struct kernel {
    char const* name;
    /// Reads the parameters as cuLaunchKernel gets them and returns the work of that many blocks;
    /// refuses pointers that lead nowhere. Under the world's mutex.
    std::function<void()> (*bind)(void** parameters, unsigned blocks);
};

/// By name, or null.
[[nodiscard]] kernel const* find_routine(std::string_view name) noexcept;
/// The kernels of `barmap ring`.
[[nodiscard]] std::span<kernel const> ring_routines() noexcept;
/// The kernels of step_inputs and step_outputs.
[[nodiscard]] std::span<kernel const> step_routines() noexcept;

} // namespace barmap::sim
