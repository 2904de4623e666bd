// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/host_order.hpp"

#include "base/config.hpp"

#include <algorithm>

namespace barmap::engine {
namespace {

constexpr std::size_t groups = 256;

std::size_t group_of(std::uintptr_t address) noexcept {
    constexpr unsigned bits_of_part = 22;
    return (address >> bits_of_part) % groups;
}

} // namespace

bool host_order::suits(std::size_t pieces, std::size_t bytes) noexcept {
    policy::values const& policy = config::current().policy;
    return pieces >= policy.sorted_pieces && bytes <= pieces * policy.sorted_piece;
}

// A counting sort.
bool host_order::find(std::span<copy_piece const> pieces, host_side host) noexcept {
    auto const least_groups = static_cast<std::ptrdiff_t>(config::current().policy.sorted_parts);
    std::array<std::uint16_t, groups> place{}; // of the next piece of a group
    for (copy_piece const& each : pieces)
        ++place[group_of(each.*host)];
    if (std::ranges::count_if(place, [](std::uint16_t each) { return each != 0; }) < least_groups)
        return false;
    std::uint16_t next = 0;
    for (std::uint16_t& each : place) {
        std::uint16_t const count = each;
        each = next;
        next = static_cast<std::uint16_t>(next + count);
    }
    for (std::size_t i = 0; i < pieces.size(); ++i)
        order_[place[group_of(pieces[i].*host)]++] = static_cast<std::uint16_t>(i);
    return true;
}

} // namespace barmap::engine
