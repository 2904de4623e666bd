// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace barmap::contract {

/// A message of any size, which knows whether it is whole.
template <std::size_t Bytes>
struct sealed {
    std::array<unsigned char, Bytes> bytes;

    static sealed of(std::uint64_t number) {
        sealed result;
        for (std::size_t i = 0; i < Bytes; ++i)
            result.bytes[i] = static_cast<unsigned char>((number + i) * 0x9e3779b97f4a7c15 >> 56);
        return result;
    }
    bool operator==(sealed const&) const = default;
};

} // namespace barmap::contract
