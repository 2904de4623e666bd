// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace barmap::backend {

/// A run of whole pages of one memory object, and where it goes in the CPU range.
struct piece {
    std::size_t object = 0;        ///< index of the object
    std::uint64_t file_offset = 0; ///< in the object, a multiple of the page
    std::size_t at = 0;            ///< in the CPU range, a multiple of the page
    std::size_t length = 0;        ///< a multiple of the page
};

/// How a byte range made of parts of several objects becomes whole pages side by side.
struct page_layout {
    std::vector<piece> pieces;
    std::size_t head = 0;  ///< the wanted first byte's place in the CPU range
    std::size_t total = 0; ///< size of the CPU range
};

/// A wanted part of one object.
struct part {
    std::uint64_t offset = 0; ///< in the object, any
    std::size_t length = 0;   ///< bytes, any
};

/// Rounds the range out to pages. Parts after the first must start, and parts before the last must
/// end, on a page, or there would be a hole in the CPU range.
/// @throws error errc::unknown_layout if they do not, or if there are none
[[nodiscard]] inline page_layout lay_out(std::vector<part> const& parts, std::size_t page,
                                         std::string_view backend) {
    if (parts.empty()) // of memory that the driver has just failed to describe
        throw error(errc::unknown_layout, "find the memory's bounds", std::string(backend),
                    "the memory may have been freed");
    page_layout result;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::uint64_t const start = parts[i].offset / page * page;
        std::uint64_t const end = (parts[i].offset + parts[i].length + page - 1) / page * page;
        bool const hole_before = i > 0 && start != parts[i].offset;
        bool const hole_after = i + 1 < parts.size() && end != parts[i].offset + parts[i].length;
        if (hole_before || hole_after)
            throw error(errc::unknown_layout, "join VMM chunks into one CPU range",
                        std::string(backend),
                        "the chunks do not meet at a page boundary: pin them one by one");
        if (i == 0)
            result.head = static_cast<std::size_t>(parts[i].offset - start);
        result.pieces.push_back({i, start, result.total, static_cast<std::size_t>(end - start)});
        result.total += static_cast<std::size_t>(end - start);
    }
    return result;
}

} // namespace barmap::backend
