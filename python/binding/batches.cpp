// SPDX-License-Identifier: MIT
#include "batches.hpp"

#include "own_memory.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
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

[[noreturn]] void refuse_again(rows const& to, std::size_t at) {
    throw std::invalid_argument(to.indices + "[" + std::to_string(at) + "] names row " +
                                std::to_string(to.row(at)) + " of " + to.array +
                                " again: rows are copied in no order");
}

/// Of what is written to, no byte may be written twice: pieces are in no order.
void expect_different(rows const& to, std::size_t how_many) {
    if (!to.which)
        return;
    bool rises = true; // as lists of rows mostly do
    for (std::size_t i = 0; i < how_many; ++i)
        rises = (i == 0 || to.row(i - 1) < to.row(i)) && rises;
    if (rises)
        return;
    // A bit for each row is fastest, unless the array has far more rows than are named.
    constexpr std::size_t rows_in_the_memory_of_a_number = 64;
    if (static_cast<std::size_t>(to.count) / rows_in_the_memory_of_a_number <= how_many) {
        std::vector<bool> seen(static_cast<std::size_t>(to.count));
        for (std::size_t i = 0; i < how_many; ++i) {
            auto const row = static_cast<std::size_t>(to.row(i));
            if (seen[row])
                refuse_again(to, i);
            seen[row] = true;
        }
        return;
    }
    std::vector<std::pair<std::int64_t, std::size_t>> named;
    named.reserve(how_many);
    for (std::size_t i = 0; i < how_many; ++i)
        named.emplace_back(to.row(i), i);
    std::ranges::sort(named);
    std::size_t first_again = how_many;
    for (std::size_t i = 1; i < how_many; ++i)
        if (named[i].first == named[i - 1].first)
            first_again = std::min(first_again, named[i].second);
    if (first_again != how_many)
        refuse_again(to, first_again);
}

/// What is read must not be written, where both sides are parts of one memory.
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
        auto const behind = std::ranges::lower_bound(
            written, each.from + each.bytes, {}, &decltype(written)::value_type::first);
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
        found.reset(new batches(opened_device(ordinal).batches()));
    return *found;
}

void batches::leave(batch_ticket ticket, nb::object arrays) {
    std::lock_guard const guard(lock_);
    left_.push_back({ticket, std::move(arrays)});
}

void batches::expect_none_failed(std::vector<nb::object>& ended) {
    expect_not_forked("copy a batch"); // before the lock
    std::exception_ptr failure;
    std::lock_guard const guard(lock_);
    // All of them: one whose stream does not come keeps no other's failure.
    std::erase_if(left_, [&](left_batch& each) {
        try {
            if (!queue_.done(each.ticket))
                return false;
        } catch (error const&) {
            failure = failure ? failure : std::current_exception();
        }
        if (each.arrays.is_valid())
            ended.push_back(std::move(each.arrays));
        return true;
    });
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace barmap::python
