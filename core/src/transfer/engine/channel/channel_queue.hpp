// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/host_registration.hpp"
#include "system/region.hpp"
#include "transfer/engine/channel/command_ring.hpp"
#include "transfer/engine/channel/cuda_channel.hpp"
#include "transfer/engine/engine.hpp"
#include "transfer/engine/patience.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace barmap::engine {

/// One channel in CUDA's own address space, where every CUDA pointer is an address, and the pieces
/// that its ring has no room for yet. Tickets run in order.
/// Thread rule: one thread at a time calls make_spare() and give(); other threads may call feed(),
/// stop() and the members marked "any thread" concurrently.
class channel_queue {
public:
    /// Finds CUDA's address space, if no earlier queue has found it. @throws error
    /// @pre the session's context is current
    channel_queue(cuda_session& session, std::uint32_t engine_type);
    channel_queue(channel_queue const&) = delete;
    channel_queue& operator=(channel_queue const&) = delete;
    ~channel_queue() { stop(); }

    /// How many pieces may wait for the ring; one longer list may also wait.
    static constexpr std::size_t most_waiting = std::size_t{1} << 20;
    /// One more than the tickets that may be in flight or wait: each has a word for its stream.
    static constexpr std::size_t most_tickets = 8192;

    /// A ticket that the ring has no room for yet.
    struct waiting_ticket {
        direction which = direction::to_cpu;
        std::vector<copy_piece> pieces;
        std::size_t bytes = 0;
        semaphore_word begin;
        device_clock::time_point until;
    };

    /// Whether give() may take that many pieces and tickets. Any thread.
    [[nodiscard]] bool may_take(std::size_t pieces, std::size_t tickets) noexcept;

    /// Allocates the memory that give() needs for tickets that do not fit into the ring:
    /// command_ring::most_pieces each. @throws std::bad_alloc
    [[nodiscard]] std::list<waiting_ticket> make_spare(std::size_t pieces, std::size_t tickets);

    /// The ticket of the next give(). Any thread.
    [[nodiscard]] ticket next() const noexcept {
        return given_.load(std::memory_order_acquire) + 1;
    }

    /// The word that a stream writes to release a ticket.
    [[nodiscard]] semaphore_word word_of(ticket number) const noexcept;

    /// Makes the stream release a ticket when it reaches this point.
    [[nodiscard]] CUresult let_begin(CUstream after, semaphore_word const& word) const noexcept;

    /// Whether a stream can write the word by a memory operation. CUDA refuses words in a pool's
    /// memory, which older GPUs need (580.159.04); there a stream fills memory with the value.
    [[nodiscard]] bool takes_stream_writes() const noexcept {
        return session_.addresses == cuda::block_addresses::any;
    }

    /// Where the channel writes the number of each finished ticket, for streams to wait on.
    [[nodiscard]] std::uint64_t semaphore_on_gpu() const noexcept { return semaphore_on_gpu_; }

    /// Submits the next ticket. After stop(), the ticket fails.
    /// @param pieces up to command_ring::most_pieces; without any, the ticket only orders streams
    /// @param bytes of the pieces, or more: decides when the ticket is late
    /// @param begin the word that the ticket waits for, at most until `until`
    /// @param spare from make_spare(); takes one if the ring has no room
    void give(direction which, std::span<copy_piece const> pieces, std::size_t bytes,
              semaphore_word const& begin, device_clock::time_point until,
              std::list<waiting_ticket>& spare) noexcept;

    /// Moves waiting tickets to the ring while it has room. @return whether any still waits
    bool feed() noexcept;

    /// Whether any ticket waits for the ring. Any thread.
    [[nodiscard]] bool has_waiting() const noexcept {
        return waiting_pieces_.load(std::memory_order_relaxed) != 0;
    }

    /// The state of a ticket. Any thread.
    [[nodiscard]] state poll(ticket number) const noexcept;

    /// Whether no ticket is in flight; true after stop(). Any thread.
    [[nodiscard]] bool is_idle() const noexcept {
        return has_ended() || ring_->progress() >= given_.load(std::memory_order_acquire);
    }

    /// Whether it copies in this direction now, and does not wait for a stream. Any thread.
    [[nodiscard]] bool is_copying(direction which) const noexcept;

    /// Whether it runs a copy now that takes about 20 us or more. Any thread.
    [[nodiscard]] bool is_copying_bulk() const noexcept;

    /// Checks whether the driver has stopped the channel or the oldest ticket is late. Time counts
    /// from the first watch() that saw the ticket as the oldest, with its stream arrived. Thread
    /// rule: one watcher calls it.
    void watch() noexcept;

    /// Whether watch() has found one of these. Any thread.
    [[nodiscard]] bool is_in_trouble() const noexcept {
        return is_in_trouble_.load(std::memory_order_acquire);
    }

    /// Whether stop() has stopped the channel. Any thread.
    [[nodiscard]] bool has_ended() const noexcept {
        return has_failed_.load(std::memory_order_acquire);
    }

    /// Describes the trouble.
    [[nodiscard]] std::string trouble() const;

    /// Stops the channel. @return whether it has stopped: then the unfinished tickets have failed,
    /// and the streams that wait for them are released
    bool stop() noexcept;

private:
    /// feed() for a caller that holds ring_lock_.
    bool feed_ring() noexcept;
    /// Takes the first entry, which the caller has filled.
    void wait_for_room(std::list<waiting_ticket>& filled) noexcept;
    void submit(direction which, std::span<copy_piece const> pieces, std::size_t bytes,
                semaphore_word const& begin, device_clock::time_point until) noexcept;
    [[nodiscard]] bool has_begun(ticket number) const noexcept;
    [[nodiscard]] bool has_stream_come(ticket number) const noexcept;
    [[nodiscard]] std::uint32_t* semaphore() const noexcept {
        return reinterpret_cast<std::uint32_t*>(host_.data());
    }
    [[nodiscard]] std::uint32_t* begun() const noexcept {
        return reinterpret_cast<std::uint32_t*>(channel_.block() + begun_at);
    }
    /// In the block, after the words of streams. A read crosses the link, but before Hopper the
    /// channel's own semaphores have 40-bit addresses, which do not reach host memory.
    static constexpr std::size_t begun_at =
        command_ring::spare_at + most_tickets * sizeof(std::uint32_t);

    cuda_session& session_;
    /// First, since CUDA may have no memory for it: to take the registration back would wait for
    /// streams. The destructor stops it before all else goes.
    cuda_channel channel_;
    os::region host_; ///< a page with the semaphore
    cuda::host_registration registration_;
    std::uint64_t semaphore_on_gpu_ = 0;
    std::optional<command_ring> ring_;

    /// The watcher's data on a ticket in the ring, in nanoseconds.
    struct limit {
        std::atomic<device_clock::rep> until{0};         ///< when its stream is late
        std::atomic<device_clock::rep> patience{0};      ///< how long its copies may take
        std::atomic<std::uint32_t const*> word{nullptr}; ///< of its stream; null: without a stream
        std::atomic<bool> is_bulk{false};
    };
    std::array<limit, command_ring::most_tickets> limits_;
    ticket oldest_seen_ = 0; ///< the watcher's, with the time and the state of its stream
    bool had_come_ = false;
    device_clock::time_point since_{};

    std::atomic<ticket> given_{0};
    /// Never held during a CUDA call, which may wait for work that needs the ring to be fed.
    std::mutex ring_lock_; // guards the ring and removals from waiting_; before waiting_lock_
    /// Held briefly: a submission of a long list does not wait until the ring has been fed.
    std::mutex waiting_lock_; // guards waiting_, used_ and the end
    std::list<waiting_ticket> waiting_;
    std::list<waiting_ticket> used_;             ///< memory to reuse: new pages cost 10 ns a piece
    std::atomic<std::size_t> waiting_pieces_{0}; ///< of waiting_, plus one for each ticket
    std::atomic<direction> latest_{direction::to_cpu};
    std::atomic<bool> is_in_trouble_{false}, is_stream_late_{false};
    std::atomic<bool> has_failed_{false};
    std::atomic<ticket> done_before_failure_{0};
};

} // namespace barmap::engine
