// SPDX-License-Identifier: MIT
#include <barmap/arena.hpp>

#include "signal/arena_state.hpp"

#include "base/checkpoint.hpp"
#include "cuda/driver_api.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <iterator>
#include <new>
#include <span>
#include <string>
#include <utility>

namespace barmap {

free_ranges::free_ranges(std::size_t bytes) {
    if (bytes != 0)
        ranges_.emplace(0, bytes);
}

std::optional<std::size_t> free_ranges::take(std::size_t bytes) {
    auto const found =
        std::ranges::find_if(ranges_, [&](auto const& it) { return it.second >= bytes; });
    if (found == ranges_.end())
        return std::nullopt;
    std::size_t const at = found->first;
    take_at(at, bytes);
    return at;
}

bool free_ranges::take_at(std::size_t at, std::size_t bytes) {
    auto const behind = ranges_.upper_bound(at);
    if (behind == ranges_.begin())
        return false;
    auto const found = std::prev(behind);
    auto const [from, size] = *found;
    std::size_t const before = at - from;
    if (before > size || bytes > size - before)
        return false;
    ranges_.erase(found);
    if (before != 0)
        ranges_.emplace(from, before);
    if (std::size_t const left = size - before - bytes; left != 0)
        ranges_.emplace(at + bytes, left);
    return true;
}

void free_ranges::give_back(std::size_t at, std::size_t bytes) {
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

namespace {

std::size_t whole(std::size_t bytes, std::size_t unit = arena::alignment) {
    return (bytes + unit - 1) / unit * unit;
}

constexpr char open_it[] = "open shared memory";
constexpr char as_received[] = "give a descriptor that share() made, as it was received";

} // namespace

arena_state::arena_state(device const& of, std::size_t gpu_bytes, std::size_t host_bytes,
                         std::string_view backend)
    : gpu(of), gpu_block(whole(gpu_bytes)), host_block(whole(host_bytes)) {
    if (gpu_bytes != 0) {
        memory = of.allocate(whole(gpu_bytes), backend);
        map = memory.map();
        gpu_block.data = map.data();
        gpu_block.gpu_address = memory.gpu_address();
    }
    if (host_bytes != 0) {
        std::size_t const bytes = whole(host_bytes, os::page_size());
        host_file = os::memory_file(bytes);
        host = os::region::shared_memory(bytes, host_file.get());
        registration.emplace(cuda::device_with(of.ordinal()), std::span(host.data(), bytes),
                             "rings to the CPU and calls cannot be had on it");
        host_block.data = host.data();
        host_block.gpu_address = registration->gpu_address();
    }
}

arena_state::arena_state(pin shared, os::fd host_memory, std::vector<std::size_t> gpu_parts,
                         std::vector<std::size_t> host_parts)
    : memory(std::move(shared)), map(memory.map()), host_file(std::move(host_memory)),
      gpu_block(map.size()), host_block(0) {
    gpu_block.data = map.data();
    gpu_block.shared = std::move(gpu_parts);
    host_block.shared = std::move(host_parts);
    // Stores of a whole line fault anywhere else.
    if (reinterpret_cast<std::uintptr_t>(map.data()) % arena::alignment != 0)
        throw error(errc::invalid_argument, open_it, "", as_received);
    if (!host_file)
        return;
    if (!os::is_lasting_memory(host_file.get()))
        throw error(errc::invalid_argument, open_it, "", as_received);
    // Read the size only now: the file can no longer shrink.
    std::size_t const bytes = os::file_size(host_file.get()).value_or(0);
    if (bytes == 0)
        throw error(errc::invalid_argument, open_it, "", as_received);
    host = os::region::shared_memory(bytes, host_file.get());
    host_block.free = free_ranges(bytes);
    host_block.data = host.data();
}

arena::arena(device const& of, std::size_t gpu_bytes, std::size_t host_bytes,
             std::string_view backend)
    : state_(std::make_shared<arena_state>(of, gpu_bytes, host_bytes, backend)) {}
arena::arena(std::shared_ptr<arena_state> state) noexcept : state_(std::move(state)) {}
arena::arena(arena const&) noexcept = default;
arena& arena::operator=(arena const&) noexcept = default;
arena::~arena() = default;

cache_kind arena::kind() const noexcept {
    return state_->map.kind();
}

device const& arena::gpu() const noexcept {
    return *state_->gpu;
}

bool arena::opened() const noexcept {
    return !state_->gpu;
}

namespace {

/// Where the next part of an opened arena lies, if all of it is the arena's and no other part's.
std::optional<std::size_t> take_shared(arena_block& from, std::size_t bytes) {
    if (from.shared.empty())
        return std::nullopt;
    std::size_t const at = from.shared.back();
    from.shared.pop_back();
    if (at % arena::alignment != 0 || !from.free.take_at(at, bytes))
        return std::nullopt;
    return at;
}

std::size_t take(arena_state& from, arena_block& block, std::size_t bytes, char const* what) {
    std::string const operation =
        "take " + std::to_string(bytes) + " bytes of " + what + " memory from an arena";
    auto const refuse = [&](errc code, std::string advice) {
        throw error(code, operation, "", std::move(advice));
    };
    if (!os::is_this_process(from.owner))
        refuse(errc::forked_child, "make a new arena in the child");
    checkpoint::pass const here(operation); // the caller will write to what it takes
    if (bytes == 0)
        refuse(errc::invalid_argument, "give a size greater than 0");
    std::optional<std::size_t> found;
    if (std::size_t const size = whole(bytes); size >= bytes) { // else it has wrapped round
        std::lock_guard const hold(from.lock);
        found = from.gpu ? block.free.take(size) : take_shared(block, size);
    }
    if (!found && !from.gpu)
        throw error(errc::invalid_argument, open_it, "", as_received);
    if (!found)
        refuse(errc::out_of_range, "make the arena larger: no part of that size is left");
    return *found;
}

/// @return 0 of an opened arena
std::uintptr_t gpu_address(arena_block const& block, std::size_t at) {
    return block.gpu_address == 0 ? 0 : block.gpu_address + at;
}

} // namespace

arena::part arena::take_gpu(std::size_t bytes) const {
    std::size_t const at = take(*state_, state_->gpu_block, bytes, "GPU");
    part result;
    result.owner_ = state_;
    result.data_ = state_->gpu_block.data + at;
    result.size_ = bytes;
    result.gpu_address_ = barmap::gpu_address(state_->gpu_block, at);
    result.plan_ = state_->map.window().plan;
    return result;
}

arena::part arena::take_host(std::size_t bytes) const {
    std::size_t const at = take(*state_, state_->host_block, bytes, "host");
    part result;
    result.owner_ = state_;
    result.data_ = state_->host_block.data + at;
    result.size_ = bytes;
    result.gpu_address_ = barmap::gpu_address(state_->host_block, at);
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
    if (!owner_ || !is_of_this_process()) // in a child, the lock may be held for ever
        return;
    arena_block& block = plan_ ? owner_->gpu_block : owner_->host_block;
    std::lock_guard const hold(owner_->lock);
    try {
        block.free.give_back(static_cast<std::size_t>(data_ - block.data), whole(size_));
    } catch (std::bad_alloc const&) {
        // It is free again when the arena is.
    }
}

bool arena::part::is_of_this_process() const noexcept {
    return owner_ && os::is_this_process(owner_->owner);
}

barmap::window arena::part::window() const noexcept {
    return plan_ ? barmap::window{data_, size_, plan_} : barmap::window{};
}

} // namespace barmap
