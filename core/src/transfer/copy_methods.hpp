// SPDX-License-Identifier: MIT
#pragma once

#include "base/policy.hpp"
#include "transfer/cpu/plan.hpp"
#include "transfer/engine/engine_reach.hpp"

#include <barmap/report.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace barmap {

/// Where the contest begins: below this size, in bytes, no engine is ever faster than loads and
/// stores, so that none is asked, or started.
[[nodiscard]] constexpr std::size_t least_for_engines(copy_direction direction) noexcept {
    return direction == copy_direction::to_cpu ? policy::engines_from_to_cpu
                                               : policy::engines_from_to_gpu;
}

/// The method of mapping::copy_to_gpu() and copy_to_cpu() for each direction, kind of host memory
/// and size: the mapping's loads and stores (null) or an engine, whichever was fastest here.
struct copy_methods {
    struct choice {
        std::size_t from_bytes; ///< the least size
        engine_slot* by;        ///< null: the mapping
    };
    using by_size = std::vector<choice>; ///< in the order of sizes, the first from 0 on

    /// By copy_direction, host_memory_kind.
    std::array<std::array<by_size, 2>, 2> chosen{{{by_size{{0, nullptr}}, by_size{{0, nullptr}}},
                                                  {by_size{{0, nullptr}}, by_size{{0, nullptr}}}}};

    [[nodiscard]] by_size const& all(copy_direction direction,
                                     host_memory_kind host) const noexcept {
        return chosen[static_cast<std::size_t>(direction)][static_cast<std::size_t>(host)];
    }
    [[nodiscard]] engine_slot* of(copy_direction direction, host_memory_kind host,
                                  std::size_t bytes) const noexcept {
        by_size const& choices = all(direction, host);
        auto found = choices.rbegin(); // most copies that come here are large
        while (found->from_bytes > bytes)
            ++found;
        return found->by;
    }
    [[nodiscard]] std::vector<copy_crossover> crossovers() const;
};

/// Measures them against each other.
/// @param gpu     mapped GPU memory that may be overwritten, 2 MiB
/// @param reached the same memory, as engines reach it
[[nodiscard]] copy_methods measure_methods(std::span<engine_slot* const> engines, window gpu,
                                           engine_reach const& reached);

} // namespace barmap
