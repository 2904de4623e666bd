// SPDX-License-Identifier: MIT
#include <barmap/arena.hpp>

#include "base/process.hpp"

#include <barmap/error.hpp>
#include <barmap/host_buffer.hpp>
#include <barmap/mapping.hpp>
#include <barmap/pin.hpp>

#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace barmap {

/// Which bytes of an arena's block are free.
class free_ranges {
public:
    explicit free_ranges(std::size_t bytes) {
        if (bytes != 0)
            ranges_.emplace(0, bytes);
    }
    /// @return where, or nothing
    std::optional<std::size_t> take(std::size_t bytes) {
        for (auto each = ranges_.begin(); each != ranges_.end(); ++each) {
            auto const [at, size] = *each;
            if (size < bytes)
                continue;
            std::size_t const found = at, left = size - bytes;
            ranges_.erase(each);
            if (left != 0)
                ranges_.emplace(found + bytes, left);
            return found;
        }
        return std::nullopt;
    }
    void give_back(std::size_t at, std::size_t bytes) {
        auto next = ranges_.lower_bound(at);
        if (next != ranges_.end() && at + bytes == next->first) {
            bytes += next->second;
            next = ranges_.erase(next);
        }
        if (next != ranges_.begin()) {
            auto const before = std::prev(next);
            if (before->first + before->second == at) {
                before->second += bytes;
                return;
            }
        }
        ranges_.emplace_hint(next, at, bytes);
    }

private:
    std::map<std::size_t, std::size_t> ranges_; ///< sizes by where they begin
};

namespace {

std::size_t whole(std::size_t bytes) {
    return (bytes + arena::alignment - 1) / arena::alignment * arena::alignment;
}

} // namespace

struct arena_state {
    arena_state(device const& gpu_of, std::size_t gpu_bytes, std::size_t host_bytes)
        : gpu(gpu_of), free_gpu(whole(gpu_bytes)), free_host(whole(host_bytes)) {
        if (gpu_bytes != 0) {
            memory = gpu.allocate(whole(gpu_bytes));
            map = memory.map();
        }
        if (host_bytes != 0)
            host = gpu.allocate_host(whole(host_bytes));
    }

    device gpu;
    pin memory;
    mapping map;
    host_buffer host;
    os::process_id const owner = os::this_process();
    std::mutex lock;
    free_ranges free_gpu, free_host;
};

arena::arena(device const& of, std::size_t gpu_bytes, std::size_t host_bytes)
    : state_(std::make_shared<arena_state>(of, gpu_bytes, host_bytes)) {}
arena::arena(arena const&) noexcept = default;
arena& arena::operator=(arena const&) noexcept = default;
arena::~arena() = default;

cache_kind arena::kind() const noexcept {
    return state_->map.kind();
}

device const& arena::gpu() const noexcept {
    return state_->gpu;
}

namespace {

std::size_t take(arena_state& from, free_ranges& ranges, std::size_t bytes, char const* what) {
    auto const refuse = [&](errc code, std::string advice) {
        throw error(code,
                    "take " + std::to_string(bytes) + " bytes of " + what + " memory from an arena",
                    "", std::move(advice));
    };
    if (!os::is_this_process(from.owner))
        refuse(errc::forked_child, "make a new arena in the child");
    if (bytes == 0)
        refuse(errc::invalid_argument, "give a size greater than 0");
    std::optional<std::size_t> found;
    if (std::size_t const size = whole(bytes); size >= bytes) { // else it has wrapped round
        std::lock_guard const hold(from.lock);
        found = ranges.take(size);
    }
    if (!found)
        refuse(errc::out_of_range, "make the arena larger: no part of that size is left");
    return *found;
}

} // namespace

arena::part arena::take_gpu(std::size_t bytes) const {
    std::size_t const at = take(*state_, state_->free_gpu, bytes, "GPU");
    part result;
    result.owner_ = state_;
    result.data_ = state_->map.data() + at;
    result.size_ = bytes;
    result.gpu_address_ = state_->memory.gpu_address() + at;
    result.plan_ = state_->map.window().plan;
    return result;
}

arena::part arena::take_host(std::size_t bytes) const {
    std::size_t const at = take(*state_, state_->free_host, bytes, "host");
    part result;
    result.owner_ = state_;
    result.data_ = state_->host.data() + at;
    result.size_ = bytes;
    result.gpu_address_ = state_->host.gpu_address() + at;
    return result;
}

arena::part::part() noexcept = default;
arena::part::part(part&& other) noexcept
    : owner_(std::move(other.owner_)), data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)), gpu_address_(std::exchange(other.gpu_address_, 0)),
      plan_(std::exchange(other.plan_, nullptr)) {}
arena::part& arena::part::operator=(part&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(gpu_address_, other.gpu_address_);
    std::swap(plan_, other.plan_);
    return *this;
}

arena::part::~part() {
    if (!owner_ || !os::is_this_process(owner_->owner)) // in a child, the lock may be held for ever
        return;
    std::byte const* const block = plan_ ? owner_->map.data() : owner_->host.data();
    std::lock_guard const hold(owner_->lock);
    try {
        (plan_ ? owner_->free_gpu : owner_->free_host)
            .give_back(static_cast<std::size_t>(data_ - block), whole(size_));
    } catch (std::bad_alloc const&) {
        // It is free again when the arena is.
    }
}

barmap::window arena::part::window() const noexcept {
    return plan_ ? barmap::window{data_, size_, plan_} : barmap::window{};
}

} // namespace barmap
