// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Numbers and directions as people read them.
namespace barmap::tool {

inline constexpr std::size_t KiB = std::size_t{1} << 10;
inline constexpr std::size_t MiB = std::size_t{1} << 20;
inline constexpr std::size_t GiB = std::size_t{1} << 30;

[[nodiscard]] constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
}

/// Bytes from an address to the next multiple of a power of two; 0 if it is one.
[[nodiscard]] inline std::size_t gap_to_multiple(void const* address, std::size_t unit) {
    return -reinterpret_cast<std::uintptr_t>(address) & (unit - 1);
}

[[nodiscard]] std::string size_text(std::size_t bytes);       ///< "64 B", "4 KiB", "1.5 MiB"
[[nodiscard]] std::string microseconds(double nanoseconds);   ///< "0.105", "12.3", "1276"
[[nodiscard]] std::string cuda_version_text(int api_version); ///< 13000 is "13.0"

[[nodiscard]] std::string_view name_of(copy_direction way); ///< "h2d", "d2h"
inline constexpr copy_direction both_directions[] = {copy_direction::to_gpu,
                                                     copy_direction::to_cpu};

/// A size as it is typed: digits and an optional unit, in powers of 1024 and either case: 512, 4K,
/// 4kb, 1MiB. Nothing for what is none, for 0, and for more than 256T, which no CPU can address.
[[nodiscard]] std::optional<std::size_t> parse_size(std::string_view text);

/// Gigabytes (10^9) per second of that many bytes in that time.
[[nodiscard]] double gigabytes_per_second(std::size_t bytes, double nanoseconds);

} // namespace barmap::tool
