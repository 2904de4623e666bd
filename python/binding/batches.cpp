// SPDX-License-Identifier: MIT
#include "batches.hpp"

#include "own_memory.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace nb = nanobind;

namespace barmap::python {
namespace {

// Never destroyed, as the devices that are kept.
struct kept_batches {
    std::mutex lock;
    std::map<int, std::unique_ptr<batches>> of;
};
kept_batches& kept() {
    static auto* const all = new kept_batches;
    return *all;
}

/// No byte may be written twice: pieces are in no order. Takes memory by the length of the list,
/// whatever the array's is.
void expect_different(rows const& to, std::size_t how_many) {
    if (!to.which)
        return;
    std::size_t ascending = 1; // as lists of rows mostly are
    while (ascending < how_many && to.row(ascending - 1) < to.row(ascending))
        ++ascending;
    if (ascending >= how_many)
        return;
    std::vector<std::pair<std::int64_t, std::size_t>> in_order; // rows, and where they are named
    in_order.reserve(how_many);
    for (std::size_t i = 0; i < how_many; ++i)
        in_order.emplace_back(to.row(i), i);
    std::ranges::sort(in_order);
    std::optional<std::size_t> again; // the first entry that names a row again
    for (std::size_t i = 1; i < how_many; ++i)
        if (in_order[i].first == in_order[i - 1].first)
            again = std::min(again.value_or(how_many), in_order[i].second);
    if (again)
        throw std::invalid_argument(to.indices + "[" + std::to_string(*again) + "] names row " +
                                    std::to_string(to.row(*again)) + " of " + to.array +
                                    " again: rows are copied in no order");
}

/// Where both sides are parts of one memory, no byte may be both read and written.
void expect_apart(std::span<copy_piece const> pieces, rows const& to, rows const& from) {
    std::vector<std::pair<std::uintptr_t, std::uintptr_t>> written; // begins and ends
    std::uintptr_t first = UINTPTR_MAX, last = 0;
    for (copy_piece const& each : pieces) {
        first = std::min(first, each.to);
        last = std::max(last, each.to + each.bytes);
    }
    auto const is_between = [&](copy_piece const& each) {
        return each.from < last && first < each.from + each.bytes;
    };
    if (std::ranges::none_of(pieces, is_between))
        return;
    for (copy_piece const& each : pieces)
        written.emplace_back(each.to, each.to + each.bytes);
    std::ranges::sort(written);
    for (copy_piece const& each : pieces) {
        auto const behind = std::ranges::lower_bound(written, each.from + each.bytes, {},
                                                     &decltype(written)::value_type::first);
        if (each.bytes != 0 && behind != written.begin() && std::prev(behind)->second > each.from)
            throw std::invalid_argument("rows of " + from.array + " are read that are written as " +
                                        "rows of " + to.array + ": rows are copied in no order");
    }
}

} // namespace

std::int64_t rows::row(std::size_t at) const {
    std::int64_t const asked = which ? which[at] : static_cast<std::int64_t>(at);
    if (asked >= 0 && asked < count)
        return asked;
    if (!which)
        throw std::out_of_range(array + " has no row " + std::to_string(asked) + ": it has " +
                                std::to_string(count) + " rows");
    std::string const named =
        indices + "[" + std::to_string(at) + "] is " + std::to_string(asked) + ", and ";
    // In lists of blocks, -1 often means that there is none.
    if (asked < 0)
        throw std::invalid_argument(named + "rows count from 0: leave out entries without a row");
    throw std::out_of_range(named + array + " has " + std::to_string(count) + " rows");
}

void make_pieces(std::vector<copy_piece>& pieces, rows const& to, rows const& from,
                 std::size_t how_many, std::size_t row_bytes, bool joined) {
    pieces.clear();
    for (std::size_t i = 0; i < how_many; ++i) {
        // Of a negative stride, the sum wraps around to what is meant.
        auto const address = [i](rows const& side) {
            return side.first + static_cast<std::uintptr_t>(side.row(i) * side.stride);
        };
        copy_piece const next{address(to), address(from), row_bytes};
        if (copy_piece* const before = joined && !pieces.empty() ? &pieces.back() : nullptr;
            before && before->to + before->bytes == next.to &&
            before->from + before->bytes == next.from)
            before->bytes += row_bytes;
        else
            pieces.push_back(next);
    }
    expect_different(to, how_many);
    expect_apart(pieces, to, from);
}

std::size_t first_row_of(std::span<copy_piece const> pieces, std::size_t piece,
                         std::size_t row_bytes) noexcept {
    std::size_t bytes = 0;
    for (copy_piece const& each : pieces.first(piece))
        bytes += each.bytes;
    return bytes / row_bytes;
}

batches& batches::of(int ordinal) {
    expect_not_forked("create a batch queue");
    std::lock_guard const guard(kept().lock);
    std::unique_ptr<batches>& found = kept().of[ordinal];
    if (!found)
        found.reset(new batches(opened_device(ordinal).batch_queue()));
    return *found;
}

void batches::leave(batch_ticket ticket, nb::object arrays) {
    unheld_.leave(ticket, std::move(arrays));
}

void batches::expect_none_failed(std::vector<nb::object>& ended) {
    expect_not_forked("copy a batch"); // before the lock
    unheld_.expect_none_failed(queue_, ended);
}

} // namespace barmap::python
