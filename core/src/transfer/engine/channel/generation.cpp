// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/generation.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace barmap::engine {
namespace {

// Newest first: a GPU may also offer classes of an older generation. NVIDIA's own kernel driver
// uses Hopper's user-mode page on all later GPUs; only some of them have the class 0xc761.
constexpr std::array<generation, 6> generations{{
    {"Blackwell B", 0xca6f, 0xcab5, 0xc661, true, true, true},
    {"Blackwell", 0xc96f, 0xc9b5, 0xc661, true, true, true},
    {"Hopper", 0xc86f, 0xc8b5, 0xc661, true, true, true},
    {"Ampere B or Ada", 0xc56f, 0xc7b5, 0xc561, false, false, true},
    {"Ampere", 0xc56f, 0xc6b5, 0xc561, false, false, false},
    {"Turing", 0xc46f, 0xc5b5, 0xc461, false, false, false},
}};

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

rm::driver_series expect_series(rm::client const& client) {
    if (client.series())
        return *client.series();
    throw error(errc::backend_absent,
                "make channels with driver version " + client.driver_version(), "",
                "this barmap does not know that driver's structures: copies use the driver's "
                "engine");
}

} // namespace barmap::engine
