// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::backend {

/// Not the index of an object: pages that no GPU memory is behind.
inline constexpr std::size_t no_object = ~std::size_t{0};

/// A run of whole pages of one memory object, and where it goes in the CPU range.
struct page_run {
    std::size_t object = 0;        ///< index of the object, or no_object
    std::uint64_t file_offset = 0; ///< in the object, a multiple of the page
    std::size_t at = 0;            ///< in the CPU range, a multiple of the page
    std::size_t length = 0;        ///< a multiple of the page
};

/// How a byte range made of parts of several objects becomes contiguous whole pages.
struct page_layout {
    std::vector<page_run> pieces;
    std::size_t head = 0;  ///< the wanted first byte's place in the CPU range
    std::size_t total = 0; ///< size of the CPU range
};

/// A wanted part of one object.
struct part {
    std::uint64_t offset = 0; ///< in the object, any
    std::size_t length = 0;   ///< bytes of the object, any
    std::size_t beyond = 0;   ///< bytes behind them that are wanted although the object has ended
};

/// The part [offset, offset + length) of an object of object_size bytes: the part in the object, of
/// it, and the rest as `beyond`. @pre offset < object_size
[[nodiscard]] inline part clip(std::uint64_t offset, std::size_t length,
                               std::uint64_t object_size) noexcept {
    std::uint64_t const held = std::min<std::uint64_t>(length, object_size - offset);
    return {offset, static_cast<std::size_t>(held), static_cast<std::size_t>(length - held)};
}

/// Rounds the range out to pages. Parts after the first must start, and parts before the last must
/// end, on a page, or there would be a hole in the CPU range.
/// @throws error errc::unsupported_memory if they do not, errc::unknown_layout if there are none
[[nodiscard]] inline page_layout lay_out(std::vector<part> const& parts, std::size_t page) {
    if (parts.empty()) // of memory that the driver has just failed to describe
        throw error(errc::unknown_layout, "find the memory's bounds", "",
                    "the memory may have been freed");
    page_layout result;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::uint64_t const start = parts[i].offset / page * page;
        std::uint64_t const wanted_end = parts[i].offset + parts[i].length + parts[i].beyond;
        std::uint64_t const end = (parts[i].offset + parts[i].length + page - 1) / page * page;
        std::uint64_t const filled_end = std::max(end, (wanted_end + page - 1) / page * page);
        bool const hole_before = i > 0 && start != parts[i].offset;
        bool const hole_after = i + 1 < parts.size() && filled_end != wanted_end;
        if (hole_before || hole_after)
            throw error(errc::unsupported_memory, "join VMM chunks into one CPU range", "",
                        "the chunks do not meet at a page boundary: pin them one by one");
        if (i == 0)
            result.head = static_cast<std::size_t>(parts[i].offset - start);
        result.pieces.push_back({i, start, result.total, static_cast<std::size_t>(end - start)});
        result.total += static_cast<std::size_t>(end - start);
        if (filled_end > end)
            result.pieces.push_back(
                {no_object, 0, result.total, static_cast<std::size_t>(filled_end - end)});
        result.total += static_cast<std::size_t>(filled_end - end);
    }
    return result;
}

} // namespace barmap::backend
