// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace barmap::c {

/// Options as this library knows them: members that the caller's lack are 0, and those that only
/// the caller knows must be.
template <class Options>
Options known(Options const* or_null, std::uint64_t flags, char const* operation,
              char const* advice) {
    auto const refuse = [&](char const* why) {
        throw error(errc::invalid_argument, operation, "", why);
    };
    Options options{};
    if (!or_null)
        return options;
    constexpr std::size_t most = 4096, member = 8;
    std::size_t const size = or_null->size;
    if (size < member || size % member != 0 || size > most)
        refuse(advice);
    std::memcpy(&options, or_null, std::min(size, sizeof options));
    auto const* const bytes = reinterpret_cast<unsigned char const*>(or_null);
    if (size > sizeof options &&
        std::any_of(bytes + sizeof options, bytes + size, [](auto byte) { return byte; }))
        refuse("a member that this version does not know is set: use a newer libbarmap");
    if (options.flags & ~flags)
        refuse("a flag that this version does not know is set: use a newer libbarmap");
    return options;
}

} // namespace barmap::c
