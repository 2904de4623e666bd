// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/barmap.h>
#include <barmap/export.hpp>

#include <cassert>
#include <cstddef>

namespace barmap {
/// How bytes are moved through one mapping: the copy routines and fences per size class.
/// Chosen when the mapping is made; opaque outside the library.
struct copy_plan;
} // namespace barmap

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// A view of a part of a mapping (barmap_window), on which the hot path works. Trivially copyable; three words.
/// Valid as long as its mapping. A window without a mapping is empty, and calls with it copy
/// nothing.
/// Thread rule: a value; any thread may use and copy it.
///
///     barmap::window const all = map.window();
///     barmap::window const header = all.subwindow(0, 64), rest = all.subwindow(64);
///
struct window {
    std::byte* data = nullptr;       ///< CPU address of GPU memory
    std::size_t size = 0;            ///< bytes
    copy_plan const* plan = nullptr; ///< null in a window without a mapping, which is empty

    /// The part from offset on. @pre offset <= size
    [[nodiscard]] window subwindow(std::size_t offset) const noexcept {
        assert(offset <= size);
        return {data + offset, size - offset, plan};
    }
    /// The part [offset, offset + bytes). @pre it lies inside
    [[nodiscard]] window subwindow(std::size_t offset, std::size_t bytes) const noexcept {
        assert(offset <= size && bytes <= size - offset);
        return {data + offset, bytes, plan};
    }
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
