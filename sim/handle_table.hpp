// SPDX-License-Identifier: MIT
#pragma once

#include "refusal.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace barmap::sim {

/// Gives out handles that look like pointers, point nowhere, and are never given out twice, so that
/// a use after destruction is noticed. Guarded by the world's mutex.
template <class Handle, class Thing>
class handle_table {
public:
    explicit handle_table(std::uint64_t first) noexcept : first_(first), next_(first) {}

    Handle add(std::shared_ptr<Thing> thing) {
        Handle const handle = (Handle)next_;
        things_.emplace(handle, std::move(thing));
        next_ += spacing;
        return handle;
    }

    [[nodiscard]] std::shared_ptr<Thing> find(Handle handle) const {
        auto const at = things_.find(handle);
        return at == things_.end() ? nullptr : at->second;
    }

    /// Refuses with `code` if there is no such thing.
    [[nodiscard]] std::shared_ptr<Thing> get(Handle handle, int code = invalid_handle) const {
        if (auto thing = find(handle))
            return thing;
        refuse(code);
    }

    std::shared_ptr<Thing> take(Handle handle, int code = invalid_handle) {
        auto thing = get(handle, code);
        things_.erase(handle);
        return thing;
    }

    /// Whether the handle was given out once, alive or not.
    [[nodiscard]] bool issued(Handle handle) const noexcept {
        auto const value = (std::uint64_t)handle;
        return value >= first_ && value < next_ && (value - first_) % spacing == 0;
    }

    template <class Predicate>
    void erase_if(Predicate predicate) {
        std::erase_if(things_, [&](auto const& entry) { return predicate(*entry.second); });
    }

    [[nodiscard]] std::size_t size() const noexcept { return things_.size(); }
    [[nodiscard]] auto begin() const noexcept { return things_.begin(); }
    [[nodiscard]] auto end() const noexcept { return things_.end(); }

private:
    static constexpr std::uint64_t spacing = 64;

    std::uint64_t first_;
    std::uint64_t next_;
    std::map<Handle, std::shared_ptr<Thing>> things_;
};

} // namespace barmap::sim
