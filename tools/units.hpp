// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

/// Numbers as people read them.
namespace barmap::tool {

inline constexpr std::size_t KiB = std::size_t{1} << 10;
inline constexpr std::size_t MiB = std::size_t{1} << 20;
inline constexpr std::size_t GiB = std::size_t{1} << 30;

[[nodiscard]] std::string size_text(std::size_t bytes);       ///< "64 B", "4 KiB", "1.5 MiB"
[[nodiscard]] std::string microseconds(double nanoseconds);   ///< "0.105", "12.3", "1276"
[[nodiscard]] std::string cuda_version_text(int api_version); ///< 13000 is "13.0"

/// Gigabytes (10^9) per second of so many bytes in such a time.
[[nodiscard]] double gigabytes_per_second(std::size_t bytes, double nanoseconds);

} // namespace barmap::tool
