// SPDX-License-Identifier: MIT
#include "suballocator.hpp"

#include "physical.hpp"

#include <iterator>

namespace barmap::sim {

std::optional<std::uint64_t> suballocator::take(std::uint64_t bytes) {
    bytes = round_up(bytes, quantum);
    for (auto at = free_.begin(); at != free_.end(); ++at) {
        auto const [offset, room] = *at;
        if (room < bytes)
            continue;
        free_.erase(at);
        if (room > bytes)
            free_.emplace(offset + bytes, room - bytes);
        return offset;
    }
    return std::nullopt;
}

void suballocator::give_back(std::uint64_t offset, std::uint64_t bytes) {
    auto at = free_.emplace(offset, round_up(bytes, quantum)).first;
    if (auto const next = std::next(at);
        next != free_.end() && offset + at->second == next->first) {
        at->second += next->second;
        free_.erase(next);
    }
    if (at != free_.begin()) {
        auto const before = std::prev(at);
        if (before->first + before->second == offset) {
            before->second += at->second;
            free_.erase(at);
        }
    }
}

} // namespace barmap::sim
