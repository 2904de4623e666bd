// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/channel_queue.hpp"

#include "cuda/driver_api.hpp"
#include "transfer/cpu/fence.hpp"
#include "transfer/engine/channel/passing.hpp"
#include "transfer/engine/patience.hpp"
#include "transfer/engine/spin.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

namespace barmap::engine {

namespace abi = rm::abi;

namespace {

static_assert((channel_queue::most_tickets + 1) * sizeof(std::uint32_t) <=
              command_ring::spare_bytes);

std::uint32_t word_value(ticket number) noexcept {
    return static_cast<std::uint32_t>(number);
}

} // namespace

channel_queue::channel_queue(cuda_session& session, std::uint32_t engine_type)
    : session_(session), channel_(session, engine_type),
      host_(os::region::shared_memory(os::page_size())),
      registration_(session.gpu.handle, std::span(host_.data(), host_.size()),
                    without_registration),
      semaphore_on_gpu_(registration_.gpu_address()) {
    ring_.emplace(command_ring::places{
        channel_.block(), channel_.block_on_gpu(), session.usermode.doorbell(), channel_.token(),
        semaphore(), semaphore_on_gpu_, session.kind.copy, channel_.block_on_gpu() + begun_at});
}

semaphore_word channel_queue::word_of(ticket number) const noexcept {
    std::size_t const at = command_ring::spare_at + number % most_tickets * sizeof(std::uint32_t);
    return {channel_.block_on_gpu() + at, word_value(number),
            reinterpret_cast<std::uint32_t const*>(channel_.block() + at)};
}

CUresult channel_queue::let_begin(CUstream after, semaphore_word const& word) const noexcept {
    cuda::driver_api const& cu = cuda::api();
    if (takes_stream_writes())
        return cu.stream_write_value32(after, word.address, word.value, 0);
    // cuStreamWriteValue32 refuses words in a pool's memory (580.159.04).
    return cu.memset_d32_async(word.address, word.value, 1, after);
}

bool channel_queue::may_take(std::size_t pieces, std::size_t tickets) noexcept {
    // stop() also holds it, so the lists that it clears do not count as room.
    std::lock_guard const hold(ring_lock_);
    feed_ring();
    if (is_in_trouble())
        return false;
    ticket const in_flight = given_.load(std::memory_order_relaxed) - ring_->progress();
    std::size_t const waiting = waiting_pieces_.load(std::memory_order_relaxed);
    return (in_flight == 0 || in_flight + tickets < most_tickets) &&
           (waiting == 0 || waiting + pieces <= most_waiting);
}

std::list<channel_queue::waiting_ticket> channel_queue::make_spare(std::size_t pieces,
                                                                   std::size_t tickets) {
    if (!has_waiting()) {
        std::lock_guard const hold(ring_lock_);
        if (ring_->has_room(pieces, tickets))
            return {}; // only this caller fills the ring
    }
    copy::flush_wc_stores(); // another thread may ring the doorbell
    std::list<waiting_ticket> spare;
    {
        std::lock_guard const hold(waiting_lock_);
        auto const end =
            std::next(used_.begin(), static_cast<std::ptrdiff_t>(std::min(tickets, used_.size())));
        spare.splice(spare.end(), used_, used_.begin(), end);
    }
    spare.resize(tickets);
    for (waiting_ticket& each : spare) {
        std::size_t const some = std::min(pieces, command_ring::most_pieces);
        each.pieces.reserve(some);
        pieces -= some;
    }
    return spare;
}

void channel_queue::give(direction which, std::span<copy_piece const> pieces, std::size_t bytes,
                         semaphore_word const& begin, device_clock::time_point until,
                         std::list<waiting_ticket>& spare) noexcept {
    latest_.store(which, std::memory_order_relaxed);
    auto const fill = [&] {
        waiting_ticket& its = spare.front();
        its.pieces.assign(pieces.begin(), pieces.end());
        its.which = which;
        its.bytes = bytes;
        its.begin = begin;
        its.until = until;
    };
    bool const is_filled = has_waiting();
    if (is_filled)
        fill();
    {
        std::lock_guard const hold(waiting_lock_);
        ticket const number = given_.fetch_add(1, std::memory_order_release) + 1;
        if (has_ended()) {
            std::atomic_ref(*semaphore()).store(word_value(number), std::memory_order_release);
            return;
        }
        if (is_filled && has_waiting())
            return wait_for_room(spare);
    }
    // No ticket waits, and only this caller adds one.
    std::lock_guard const hold(ring_lock_);
    if (has_ended())
        return; // stop() has failed this ticket
    if (ring_->has_room(pieces.size())) {
        submit(which, pieces, bytes, begin, until);
        if (!spare.empty())
            spare.pop_front(); // this ticket did not need it
        return;
    }
    if (!is_filled)
        fill();
    std::lock_guard const hold_waiting(waiting_lock_);
    wait_for_room(spare);
}

// The caller holds waiting_lock_.
void channel_queue::wait_for_room(std::list<waiting_ticket>& filled) noexcept {
    waiting_pieces_.fetch_add(filled.front().pieces.size() + 1, std::memory_order_relaxed);
    waiting_.splice(waiting_.end(), filled, filled.begin());
}

bool channel_queue::feed() noexcept {
    std::lock_guard const hold(ring_lock_);
    return feed_ring();
}

bool channel_queue::feed_ring() noexcept {
    while (!has_ended() && has_waiting()) {
        std::unique_lock hold(waiting_lock_);
        waiting_ticket const& first = waiting_.front(); // only the ring lock's holder removes it
        hold.unlock();
        if (!ring_->has_room(first.pieces.size()))
            break;
        submit(first.which, first.pieces, first.bytes, first.begin, first.until);
        hold.lock();
        waiting_pieces_.fetch_sub(first.pieces.size() + 1, std::memory_order_relaxed);
        if (used_.size() < most_waiting / command_ring::most_pieces)
            used_.splice(used_.begin(), waiting_, waiting_.begin());
        else
            waiting_.pop_front();
    }
    return has_waiting();
}

void channel_queue::submit(direction which, std::span<copy_piece const> pieces, std::size_t bytes,
                           semaphore_word const& begin, device_clock::time_point until) noexcept {
    constexpr std::chrono::microseconds each_piece(1); // 0.02 (H200)
    limit& own = limits_[ring_->next() % limits_.size()];
    own.until.store(until.time_since_epoch().count(), std::memory_order_relaxed);
    own.patience.store(
        device_clock::duration(usual_patience + longest_time_of(bytes) + pieces.size() * each_piece)
            .count(),
        std::memory_order_relaxed);
    own.word.store(begin.on_cpu, std::memory_order_relaxed);
    own.is_bulk.store(is_passed(pieces.size(), bytes), std::memory_order_relaxed);
    bool const may_be_ordered =
        which != direction::among_gpus && host_order::suits(pieces.size(), bytes);
    host_side const host = which == direction::to_gpu ? &copy_piece::from : &copy_piece::to;
    (void)ring_->submit(pieces, begin, may_be_ordered ? host : nullptr);
}

state channel_queue::poll(ticket number) const noexcept {
    using enum state;
    if (number == 0 || number >= next())
        return never_given;
    // In this order: a failure sets has_failed_ before the semaphore.
    bool const is_past = ring_->progress() >= number;
    if (has_failed_.load(std::memory_order_acquire))
        return number <= done_before_failure_.load(std::memory_order_relaxed) ? done : failed;
    return is_past ? done : in_flight;
}

bool channel_queue::has_begun(ticket number) const noexcept {
    if (!limits_[number % limits_.size()].word.load(std::memory_order_relaxed))
        return true;
    std::uint32_t const last = std::atomic_ref(*begun()).load(std::memory_order_acquire);
    return static_cast<std::int32_t>(last - word_value(number)) >= 0;
}

// Reads the word in GPU memory, since a stuck channel does not report that it has begun.
bool channel_queue::has_stream_come(ticket number) const noexcept {
    auto const* const word = limits_[number % limits_.size()].word.load(std::memory_order_relaxed);
    return !word || *static_cast<std::uint32_t const volatile*>(word) == word_value(number);
}

bool channel_queue::is_copying(direction which) const noexcept {
    ticket const oldest = ring_->progress() + 1;
    return !has_ended() && oldest < ring_->next() &&
           latest_.load(std::memory_order_relaxed) == which && has_begun(oldest);
}

bool channel_queue::is_copying_bulk() const noexcept {
    ticket const oldest = ring_->progress() + 1;
    return !has_ended() && oldest < ring_->next() &&
           limits_[oldest % limits_.size()].is_bulk.load(std::memory_order_relaxed) &&
           has_begun(oldest);
}

void channel_queue::watch() noexcept {
    bool is_late = false;
    ticket const oldest = ring_->progress() + 1;
    if (oldest < ring_->next()) {
        auto const now = device_clock::now();
        limit const& its = limits_[oldest % limits_.size()];
        bool const has_come = has_stream_come(oldest);
        if (oldest != oldest_seen_ || has_come != had_come_) {
            oldest_seen_ = oldest;
            had_come_ = has_come;
            since_ = now;
        }
        is_late = has_come
                      ? (now - since_).count() > its.patience.load(std::memory_order_relaxed)
                      : now.time_since_epoch().count() > its.until.load(std::memory_order_relaxed);
        // Last, so that the values above belong to this ticket.
        is_late = is_late && ring_->progress() < oldest;
        if (is_late && !has_come)
            is_stream_late_.store(true, std::memory_order_relaxed);
    }
    if (is_late || channel_.error_number())
        is_in_trouble_.store(true, std::memory_order_release);
}

std::string channel_queue::trouble() const {
    if (auto const number = channel_.error_number())
        return "the driver stopped the channel, error " + std::to_string(*number) +
               " (Xid; 31: an address that is not mapped)";
    if (is_stream_late_.load(std::memory_order_relaxed))
        return "a batch waited for its stream longer than its at_most";
    return "a batch did not end in time";
}

bool channel_queue::stop() noexcept {
    std::scoped_lock const hold(ring_lock_, waiting_lock_);
    if (has_failed_.load(std::memory_order_acquire))
        return true;
    if (!channel_.stop())
        return false;
    if (ring_) {
        done_before_failure_.store(ring_->progress(), std::memory_order_relaxed);
        has_failed_.store(true, std::memory_order_release);
        std::atomic_ref(*semaphore())
            .store(word_value(given_.load(std::memory_order_relaxed)), std::memory_order_release);
        waiting_.clear();
        used_.clear();
        waiting_pieces_.store(0, std::memory_order_relaxed);
    }
    return true;
}

} // namespace barmap::engine
