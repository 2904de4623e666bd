// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::contract {

class machine;

/// One way of reaching GPU memory on one make of machine.
struct way {
    char const* name;    ///< in the test's name
    char const* backend; ///< as in BARMAP_BACKEND
    char const* driver;  ///< the series that the simulated GPU plays (BARMAP_SIM_DRIVER)

    /// Adds the fake drivers that it needs.
    void (*install)(machine& to);

    /// Makes the machine ready before the simulated GPU is loaded.
    /// @return why that cannot be done here; empty if it is
    std::string (*prepare)() = [] { return std::string(); };
    bool joins_chunks = true; ///< VMM chunks in a row become one range
    bool many_devices = true; ///< there are as many as BARMAP_SIM_DEVICES says
    bool in_other_process = false; ///< the CPU's side of rings and counters (cpu_side.hpp)
};

/// All of them. The contract suite runs over every one: a new backend is one line here.
[[nodiscard]] std::span<way const> all_ways();

// clang-format off
/// The newest driver of each backend, for suites that no older one changes. Others run over all ways:
///
/// | older way    | what it changes                          | suites                           |
/// |--------------|------------------------------------------|----------------------------------|
/// | rm_535       | how a descriptor is exported, described  | allocate, checkpoint, fault,     |
/// |              | and imported                             | imported_chunk, lifetime,        |
/// |              |                                          | refusal, share, two_gpus         |
/// | gdrdrv_2_4,  | the calls that pin, and that choose and  | allocate, fault, lifetime,       |
/// | gdrdrv_2_0   | tell the caching; no attributes, events  | refusal                          |
// clang-format on
[[nodiscard]] std::vector<way> newest_ways();

/// The first one of a backend, its newest driver.
[[nodiscard]] way const& way_of(std::string_view backend);

/// For the tests' names.
[[nodiscard]] std::string name_of(way const& which);
void PrintTo(way const& which, std::ostream* out);

/// Whether the filter on the command line may choose a test of this way.
[[nodiscard]] bool is_asked_for(std::string_view way);

/// The ways as a suite's values. Where the filter names one test, they are its way alone: each test
/// has a process of its own, which would spend up to a third of its time registering the others.
template <class Ways>
auto over(Ways const& ways) {
    std::vector<std::ranges::range_value_t<Ways>> result;
    std::ranges::copy_if(ways, std::back_inserter(result),
                         [](auto const& each) { return is_asked_for(each.name); });
    return testing::ValuesIn(result);
}

} // namespace barmap::contract
