// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/generation.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace barmap::engine {
namespace {

// Newest first: a GPU may also offer classes of an older generation.
constexpr std::array<generation, 6> generations{{
    {"Blackwell B", 0xca6f, 0xcab5, 0xc761, true, true},
    {"Blackwell", 0xc96f, 0xc9b5, 0xc761, true, true},
    {"Hopper", 0xc86f, 0xc8b5, 0xc661, true, true},
    {"Ampere B or Ada", 0xc56f, 0xc7b5, 0xc561, false, false},
    {"Ampere", 0xc56f, 0xc6b5, 0xc561, false, false},
    {"Turing", 0xc46f, 0xc5b5, 0xc461, false, false},
}};

// The structures come from the driver's source or, from 610 on, from the tables of two other
// programs.
constexpr std::array<unsigned, 13> known_series{535, 545, 550, 555, 560, 565, 570,
                                                575, 580, 590, 595, 610, 615};

} // namespace

generation const& generation_of(std::span<std::uint32_t const> classes) {
    auto const has = [&](std::uint32_t wanted) {
        return std::find(classes.begin(), classes.end(), wanted) != classes.end();
    };
    for (generation const& each : generations)
        if (has(each.channel) && has(each.copy) && has(each.usermode))
            return each;
    throw error(errc::backend_absent, "find this GPU's generation by its classes", "",
                "only Turing, Ampere, Ada, Hopper and Blackwell are known: copies use the "
                "driver's engine");
}

driver_series series_of(std::string_view driver_version) {
    driver_series result;
    char const* const end = driver_version.data() + driver_version.size();
    auto const [dot, problem] = std::from_chars(driver_version.data(), end, result.number);
    bool const is_number = problem == std::errc{} && dot != end && *dot == '.';
    if (!is_number ||
        std::find(known_series.begin(), known_series.end(), result.number) == known_series.end())
        throw error(errc::backend_absent,
                    "make channels with driver version " + std::string(driver_version), "",
                    "this barmap does not know that driver's structures: copies use the driver's "
                    "engine");
    return result;
}

} // namespace barmap::engine
