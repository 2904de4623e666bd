// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace barmap::sim {

/// Hands out parts of [0, size), first fit. Each part is a multiple of `quantum` long.
class suballocator {
public:
    /// Spacing of small allocations in the backing object that they share, as drivers do it.
    static constexpr std::uint64_t quantum = 512;

    suballocator() = default;
    explicit suballocator(std::uint64_t size) : size_(size) { free_.emplace(0, size); }

    [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t bytes);
    void give_back(std::uint64_t offset, std::uint64_t bytes);
    [[nodiscard]] bool untouched() const noexcept {
        return free_.size() == 1 && free_.begin()->second == size_;
    }

private:
    std::uint64_t size_ = 0;
    std::map<std::uint64_t, std::uint64_t> free_; ///< offset -> bytes
};

} // namespace barmap::sim
