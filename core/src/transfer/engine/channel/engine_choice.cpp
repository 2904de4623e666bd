// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/engine_choice.hpp"

#include "base/policy.hpp"
#include "nvidia/channel.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <array>
#include <iterator>

namespace barmap::engine {

namespace abi = rm::abi;

namespace {

/// How well an engine suits copies, by what matters most.
using merit = std::array<int, 3>;

merit merit_of(copy_engine_caps const& one, std::optional<direction> which) {
    bool const reads = one.has(abi::ce_cap_host_read), writes = one.has(abi::ce_cap_host_write);
    bool const has_nvlink = one.has(abi::ce_cap_nvlink);
    int const idle = !one.has(abi::ce_cap_scrub); // the driver clears memory with the others
    if (which == direction::among_gpus)
        return {has_nvlink, idle, 0};
    int const fast = which == direction::to_gpu   ? reads
                     : which == direction::to_cpu ? writes
                                                  : reads + writes;
    return {fast, !has_nvlink, idle};
}

} // namespace

std::vector<copy_engine_caps> usable_engines(rm::client const& client) {
    std::vector<copy_engine_caps> result;
    // Before 560, the numbers of the second ten meant other engines.
    bool const has_second_range =
        client.series() &&
        client.series()->value(rm::data::number_of("NV2080_ENGINE_TYPE_COPY10")) != 0;
    std::uint32_t const all =
        has_second_range ? abi::engine_type_copies : abi::engine_type_copies / 2;
    for (std::uint32_t i = 0; i < all; ++i) {
        abi::ce_caps_parameters asked{};
        asked.engine_type = abi::engine_type_copy(i);
        if (client.control(client.subdevice(), abi::cmd_ce_get_caps, asked,
                           "read a copy engine's capabilities") != abi::ok)
            continue; // no engine has this number
        copy_engine_caps const found{
            asked.engine_type, static_cast<std::uint16_t>(asked.caps[0] | asked.caps[1] << 8)};
        if (!found.has(abi::ce_cap_graphics) && !found.has(abi::ce_cap_decompression))
            result.push_back(found);
    }
    return result;
}

std::uint32_t own_engine_type(std::span<copy_engine_caps const> usable,
                              std::optional<direction> which) {
    std::vector<copy_engine_caps> own;
    std::ranges::copy_if(usable, std::back_inserter(own), [](copy_engine_caps const& each) {
        return !each.has(abi::ce_cap_shared);
    });
    if (own.empty())
        throw error(errc::backend_absent, "find a copy engine that nothing else uses", "",
                    "this GPU has no spare engine: copies use the driver's engine");
    return std::ranges::max_element(
               own, {}, [=](copy_engine_caps const& each) { return merit_of(each, which); })
        ->type;
}

std::vector<std::uint32_t> shared_engine_types(std::span<copy_engine_caps const> usable) {
    std::vector<std::uint32_t> result;
    for (copy_engine_caps const& each : usable)
        if (each.has(abi::ce_cap_shared) && result.size() < policy::shared_engines)
            result.push_back(each.type);
    return result;
}

} // namespace barmap::engine
