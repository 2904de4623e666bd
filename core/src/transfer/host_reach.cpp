// SPDX-License-Identifier: MIT
#include "transfer/host_reach.hpp"

#include "base/config.hpp"
#include "cuda/driver_api.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <type_traits>
#include <utility>

namespace barmap {

namespace {

host_reach::allocation ask_cuda(std::byte const* host) noexcept {
    using allocation = host_reach::allocation;
    unsigned type = 0;
    allocation result;
    // All in one call, which is also quick for ordinary memory; cuPointerGetAttribute takes 0.5 us
    // to report that there is none.
    unsigned managed = 0; // whose pages move
    std::array names{cuda::pointer_memory_type, cuda::pointer_buffer_id,
                     cuda::pointer_range_start_addr, cuda::pointer_range_size,
                     cuda::pointer_is_managed};
    std::array<void*, names.size()> values{&type, &result.id, &result.start, &result.size,
                                           &managed};
    bool const known =
        cuda::api().pointer_get_attributes(names.size(), names.data(), values.data(),
                                           reinterpret_cast<std::uintptr_t>(host)) == cuda::success;
    // If the host's address differs from the GPU's, CUDA reports the range of the GPU's addresses.
    bool const pinned = known && type == cuda::memory_type_host && managed == 0 && result.id != 0 &&
                        result.contains(reinterpret_cast<std::uintptr_t>(host), 1);
    return pinned ? result : allocation{};
}

} // namespace

// With the lock held.
host_reach::allocation host_reach::find_own(std::uintptr_t at) const noexcept {
    for (allocation const& each : own_)
        if (each.contains(at, 1))
            return each;
    return {};
}

host_reach::allocation host_reach::describe(std::byte const* host) noexcept {
    if (own_count_.load(std::memory_order_acquire) > 0) {
        std::lock_guard const hold(lock_);
        allocation const own = find_own(reinterpret_cast<std::uintptr_t>(host));
        if (own.size > 0)
            return own;
    }
    // CUDA takes longest for memory that it does not know. Such memory is copied in a way that is
    // right for all, so that a thread need not hear at once that CUDA has pinned it since.
    using clock = std::chrono::steady_clock;
    std::chrono::milliseconds const most_age(config::current().policy.unpinned_age);
    struct answer {
        std::byte const* host;
        clock::time_point when;
    };
    static_assert(std::is_trivially_destructible_v<answer>);
    static constinit thread_local answer pageable{nullptr, {}};
    if (host == pageable.host && clock::now() - pageable.when < most_age)
        return {};
    allocation const result = ask_cuda(host);
    if (result.size == 0)
        pageable = {host, clock::now()};
    return result;
}

void host_reach::add(std::span<std::byte> own) {
    std::lock_guard const hold(lock_);
    own_.push_back({reinterpret_cast<std::uintptr_t>(own.data()), own.size(), next_own_--});
    own_count_ = own_.size();
}

void host_reach::remove(std::byte const* own) noexcept {
    std::lock_guard const hold(lock_);
    auto const start = reinterpret_cast<std::uintptr_t>(own);
    std::erase_if(own_, [&](allocation const& each) { return each.start == start; });
    own_count_ = own_.size();
    std::erase_if(ranges_, [&](range const& each) { return each.what.start == start; });
}

void host_reach::place::add(std::shared_ptr<engine::reachable const> held,
                            engine::reachable::run const& run) {
    if (++count_ == 1) {
        first_ = run;
        held_ = std::move(held);
        return;
    }
    if (more_runs_.empty())
        more_runs_.push_back(first_);
    more_runs_.push_back(run);
    more_held_.push_back(std::move(held));
}

// With the lock held.
host_reach::range& host_reach::find_range(std::shared_ptr<engine::worker> const& worker,
                                          allocation const& what) {
    for (range& each : ranges_)
        if (each.what.id == what.id && each.what.start == what.start &&
            each.what.size == what.size && each.worker == worker)
            return each;
    // Also release ranges that were freed, and the oldest one.
    std::erase_if(ranges_, [&](range const& each) {
        return each.worker->is_retired() ||
               (find_own(each.what.start).id != each.what.id &&
                ask_cuda(reinterpret_cast<std::byte const*>(each.what.start)).id != each.what.id);
    });
    if (ranges_.size() == most_ranges)
        ranges_.erase(ranges_.begin());
    range made;
    made.worker = worker;
    made.what = what;
    made.blocks.resize((what.size + block_bytes - 1) / block_bytes);
    return ranges_.emplace_back(std::move(made));
}

std::shared_ptr<engine::reachable const>
host_reach::reach_block(std::shared_ptr<engine::worker> const& worker, allocation const& what,
                        std::size_t number) {
    {
        std::lock_guard const hold(lock_);
        range const& found = find_range(worker, what);
        if (found.unreachable || found.blocks[number])
            return found.unreachable ? nullptr : found.blocks[number];
    }
    std::size_t const at = number * block_bytes;
    std::shared_ptr<engine::reachable const> block;
    try {
        block = worker->engine().reach_pinned(
            {reinterpret_cast<std::byte*>(what.start + at), std::min(block_bytes, what.size - at)});
    } catch (error const&) {
        // The engine then reaches no block of this allocation.
    }
    // Another thread may have reached it meanwhile; then the earlier one goes with its last copy.
    std::lock_guard const hold(lock_);
    range& found = find_range(worker, what);
    if (block)
        found.blocks[number] = block;
    else
        found.unreachable = true;
    return block;
}

/// @param block_of the block of a number, or null if it is not reached
template <class BlockOf>
host_reach::place host_reach::gather(allocation const& what, std::byte const* host,
                                     std::size_t bytes, BlockOf&& block_of) {
    std::size_t const offset = reinterpret_cast<std::uintptr_t>(host) - what.start;
    place result;
    result.id_ = what.id;
    for (std::size_t done = 0; done < bytes;) {
        std::size_t const number = (offset + done) / block_bytes;
        std::size_t const inside = (offset + done) % block_bytes;
        std::shared_ptr<engine::reachable const> block = block_of(number);
        if (!block)
            return {};
        std::size_t const length = std::min(block_bytes, what.size - number * block_bytes);
        std::size_t const some = std::min(bytes - done, length - inside);
        std::uint64_t const address = block->runs.front().address + inside;
        result.add(std::move(block), {done, some, address});
        done += some;
    }
    return result;
}

host_reach::place host_reach::find(std::shared_ptr<engine::worker> const& worker,
                                   allocation const& what, std::byte const* host,
                                   std::size_t bytes) {
    return gather(what, host, bytes,
                  [&](std::size_t number) { return reach_block(worker, what, number); });
}

host_reach::place host_reach::recall(engine::worker const& worker, std::byte const* host,
                                     std::size_t bytes) {
    std::lock_guard const hold(lock_);
    auto const known = std::find_if(ranges_.rbegin(), ranges_.rend(), [&](range const& each) {
        return each.worker.get() == &worker &&
               each.what.contains(reinterpret_cast<std::uintptr_t>(host), bytes);
    });
    if (known == ranges_.rend())
        return {};
    return gather(known->what, host, bytes,
                  [&](std::size_t number) { return known->blocks[number]; });
}

} // namespace barmap
