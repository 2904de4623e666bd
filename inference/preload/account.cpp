// SPDX-License-Identifier: MIT
#include "account.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>

namespace barmap::memcpy_dropin {
namespace {

struct counters {
    std::atomic<std::uint64_t> batches{0}, pieces{0}, bytes{0}, captured{0};
    std::array<std::atomic<std::uint64_t>, words_of_reasons.size()> passed{};
};
constinit counters totals; // of the simplest type: it is read when the process exits

void add(std::atomic<std::uint64_t>& to, std::uint64_t more) noexcept {
    to.fetch_add(more, std::memory_order_relaxed);
}

std::uint64_t value(std::atomic<std::uint64_t> const& of) noexcept {
    return of.load(std::memory_order_relaxed);
}

} // namespace

void count_taken(std::size_t pieces, std::size_t bytes) noexcept {
    add(totals.batches, 1);
    add(totals.pieces, pieces);
    add(totals.bytes, bytes);
}

void count_captured() noexcept {
    add(totals.captured, 1);
}

void count_passed(reason why) noexcept {
    add(totals.passed[static_cast<std::size_t>(why)], 1);
}

std::string account() {
    std::uint64_t passed = 0;
    std::string reasons;
    for (std::size_t i = 0; i < totals.passed.size(); ++i) {
        std::uint64_t const count = value(totals.passed[i]);
        passed += count;
        if (count != 0)
            reasons += (reasons.empty() ? ": " : ", ") + std::to_string(count) + " (" +
                       std::string(words_of_reasons[i]) + ")";
    }
    std::uint64_t const captured = value(totals.captured);
    if (captured != 0)
        reasons += "; of these, " + std::to_string(captured) + " became nodes of graphs";
    return "cuMemcpyBatchAsync: barmap took " + std::to_string(value(totals.batches)) +
           " batches of " + std::to_string(value(totals.pieces)) + " pieces and " +
           std::to_string(value(totals.bytes)) + " bytes; CUDA copied " + std::to_string(passed) +
           reasons;
}

void say(std::string const& text) noexcept {
    std::fprintf(stderr, "barmap: %s\n", text.c_str());
}

} // namespace barmap::memcpy_dropin
