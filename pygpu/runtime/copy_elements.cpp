// SPDX-License-Identifier: MIT
#include "pygpu/runtime/device_memory.hpp"

#include <algorithm>

namespace barmap::runtime {
namespace {

struct axis {
    std::size_t count;
    std::ptrdiff_t to, from; ///< strides
};

/// The largest pitch that both vendors take; further rows are copied one by one.
constexpr std::ptrdiff_t largest_pitch = 0x7fffffff;

/// A copy between two layouts, in a form that says what can be done at once: axes from the
/// outermost to the innermost, runs of `width` bytes that are contiguous on both sides.
struct copy_shape {
    std::uintptr_t to, from;
    std::size_t width;
    std::vector<axis> axes;
};

copy_shape simplify(layout const& to, layout const& from, std::vector<std::size_t> const& shape,
                    std::size_t element) {
    copy_shape result{to.first, from.first, element, {}};
    for (std::size_t k = 0; k < shape.size(); ++k) {
        axis each{shape[k], to.strides[k], from.strides[k]};
        if (each.count == 1)
            continue;
        if (each.to < 0) { // the other way round
            auto const last = static_cast<std::ptrdiff_t>(each.count - 1);
            result.to += static_cast<std::uintptr_t>(each.to * last);
            result.from += static_cast<std::uintptr_t>(each.from * last);
            each.to = -each.to;
            each.from = -each.from;
        }
        result.axes.push_back(each);
    }
    std::sort(result.axes.begin(), result.axes.end(),
              [](axis const& a, axis const& b) { return a.to > b.to; });
    auto& axes = result.axes;
    auto const signed_size = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
    while (!axes.empty() && axes.back().to == signed_size(result.width) &&
           axes.back().from == signed_size(result.width)) {
        result.width *= axes.back().count;
        axes.pop_back();
    }
    for (std::size_t k = axes.size(); k-- > 1;) { // an axis that only repeats the one inside it
        axis& outer = axes[k - 1];
        axis const& inner = axes[k];
        if (outer.to == inner.to * signed_size(inner.count) &&
            outer.from == inner.from * signed_size(inner.count)) {
            outer = {outer.count * inner.count, inner.to, inner.from};
            axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(k));
        }
    }
    return result;
}

bool can_be_rows(axis const& each, std::size_t width) {
    auto const least = static_cast<std::ptrdiff_t>(width);
    return each.to >= least && each.from >= least && each.to <= largest_pitch &&
           each.from <= largest_pitch;
}

/// Takes the longest axis that can be rows out of the shape.
axis take_rows(copy_shape& what) {
    axis rows{1, 0, 0};
    auto best = what.axes.end();
    for (auto each = what.axes.begin(); each != what.axes.end(); ++each)
        if (can_be_rows(*each, what.width) && each->count > rows.count) {
            rows = *each;
            best = each;
        }
    if (best != what.axes.end())
        what.axes.erase(best);
    return rows;
}

status copy_rows_at(std::uintptr_t to, std::uintptr_t from, std::size_t width, axis const& rows,
                    memcpy_kind which) {
    auto* const target = reinterpret_cast<void*>(to);
    auto const* const source = reinterpret_cast<void const*>(from);
    if (rows.count == 1)
        return current().copy(target, source, width, which);
    return current().copy_rows(target, static_cast<std::size_t>(rows.to), source,
                               static_cast<std::size_t>(rows.from), width, rows.count, which);
}

} // namespace

status copy_elements(layout to, layout from, std::vector<std::size_t> shape, std::size_t element,
                     memcpy_kind which) {
    if (element == 0 || std::find(shape.begin(), shape.end(), 0u) != shape.end())
        return success;
    copy_shape what = simplify(to, from, shape, element);
    axis const rows = take_rows(what);
    std::vector<std::size_t> at(what.axes.size(), 0);
    for (;;) {
        if (status const failed = copy_rows_at(what.to, what.from, what.width, rows, which))
            return failed;
        std::size_t k = at.size();
        for (; k > 0; --k) { // the next place, as an odometer counts
            axis const& each = what.axes[k - 1];
            what.to += static_cast<std::uintptr_t>(each.to);
            what.from += static_cast<std::uintptr_t>(each.from);
            if (++at[k - 1] < each.count)
                break;
            auto const count = static_cast<std::ptrdiff_t>(each.count);
            what.to -= static_cast<std::uintptr_t>(each.to * count);
            what.from -= static_cast<std::uintptr_t>(each.from * count);
            at[k - 1] = 0;
        }
        if (k == 0)
            return success;
    }
}

} // namespace barmap::runtime
