// SPDX-License-Identifier: MIT
#pragma once

#include "base/region.hpp"
#include "driver/cuda/context_scope.hpp"
#include "driver/cuda/device_block.hpp"
#include "driver/cuda/gpu.hpp"
#include "driver/cuda/host_registration.hpp"
#include "driver/cuda/memory_names.hpp"
#include "driver/rm/client.hpp"
#include "driver/rm/cuda_memory.hpp"
#include "driver/rm/uvm.hpp"
#include "transfer/engine/channel/command_ring.hpp"
#include "transfer/engine/channel/generation.hpp"
#include "transfer/engine/channel/gpu_channel.hpp"
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

/// What all channels in CUDA's address space of one GPU have in common.
struct cuda_session {
    /// @param addresses of what the channels themselves read; not the copies'
    explicit cuda_session(cuda::gpu const& which,
                          std::optional<cuda::block_addresses> addresses = {});

    cuda::gpu const gpu;
    std::shared_ptr<rm::client const> client;
    driver_series series;
    generation const& kind;
    cuda::block_addresses addresses;
    usermode_page usermode;
    std::vector<std::uint32_t> own_engine, shared_engines; ///< the latter for the way back
    cuda::primary_context context;
    /// CUDA's address space as an object of the client, once the first channel has found it.
    std::optional<rm::memory_object> space;
    CUdeviceptr first_block = 0; ///< of that channel, which lives as long as the session
    std::optional<cuda::memory_names> names; ///< of the block
};

/// One channel in CUDA's own address space, where every pointer of CUDA's is an address, and the
/// pieces that its ring has no room for yet. What it is given runs in order.
/// Thread rule: one caller at a time calls make_spare() and give(); feed(), stop() and what says so
/// may be called beside them.
class channel_queue {
public:
    /// Finds CUDA's address space, if no queue has before. @pre the session's context is current
    /// @throws error
    channel_queue(cuda_session& session, std::uint32_t engine_type);
    channel_queue(channel_queue const&) = delete;
    channel_queue& operator=(channel_queue const&) = delete;
    ~channel_queue() { stop(); }

    /// How many pieces may wait for the ring, beside one list that is longer.
    static constexpr std::size_t most_waiting = std::size_t{1} << 20;
    /// How many tickets may be in flight or wait, less one: each has a word for its stream.
    static constexpr std::size_t most_tickets = 8192;

    /// A ticket that the ring has no room for yet.
    struct waiting_ticket {
        direction which = direction::to_cpu;
        std::vector<piece> pieces;
        std::size_t bytes = 0;
        semaphore_word begin;
        device_clock::time_point until;
    };

    /// Whether so much may be given. Thread rule: free.
    [[nodiscard]] bool may_take(std::size_t pieces, std::size_t tickets) noexcept;

    /// What give() needs for that many tickets, if they do not all fit into the ring: memory for
    /// command_ring::most_pieces each. @throws std::bad_alloc
    [[nodiscard]] std::list<waiting_ticket> make_spare(std::size_t pieces, std::size_t tickets);

    /// The ticket that the next give() makes. Thread rule: free.
    [[nodiscard]] ticket next() const noexcept {
        return given_.load(std::memory_order_acquire) + 1;
    }

    /// The word by which a stream lets a ticket begin.
    [[nodiscard]] semaphore_word word_of(ticket number) const noexcept;

    /// Lets a ticket begin once the stream has come so far.
    [[nodiscard]] CUresult let_begin(CUstream after, semaphore_word const& word) const noexcept;

    /// Where the channel writes the number of the ticket that is done, for a stream to wait on.
    [[nodiscard]] std::uint64_t semaphore_on_gpu() const noexcept { return semaphore_on_gpu_; }

    /// Begins the next ticket. Once it has been stopped, the ticket has failed.
    /// @param pieces up to command_ring::most_pieces; none: only the order is kept
    /// @param bytes of them, or more: by which it is late
    /// @param begin what it waits for, until this time
    /// @param spare of make_spare(); one is taken where the ring has no room
    void give(direction which, std::span<piece const> pieces, std::size_t bytes,
              semaphore_word const& begin, device_clock::time_point until,
              std::list<waiting_ticket>& spare) noexcept;

    /// Moves what waits to the ring, as far as that has room. @return whether anything still waits
    bool feed() noexcept;

    /// Whether anything waits for the ring. Thread rule: free.
    [[nodiscard]] bool has_waiting() const noexcept {
        return waiting_pieces_.load(std::memory_order_relaxed) != 0;
    }

    /// Where a batch is. Thread rule: free.
    [[nodiscard]] state poll(ticket number) const noexcept;

    /// Whether nothing is in flight: also once it has been stopped. Thread rule: free.
    [[nodiscard]] bool is_idle() const noexcept {
        return has_ended() || ring_->progress() >= given_.load(std::memory_order_acquire);
    }

    /// Whether it copies this way now: a batch that waits for its stream copies nothing. Thread
    /// rule: free.
    [[nodiscard]] bool is_copying(direction which) const noexcept;

    /// Whether it copies now what takes some 20 us or more. Thread rule: free.
    [[nodiscard]] bool is_copying_bulk() const noexcept;

    /// Finds out whether the driver has stopped the channel, or its oldest ticket is late: counted
    /// from when this has first seen it as the oldest one, and its stream has come. Thread rule:
    /// one watcher calls it.
    void watch() noexcept;

    /// Whether watch() has found that. Thread rule: free.
    [[nodiscard]] bool is_in_trouble() const noexcept {
        return is_in_trouble_.load(std::memory_order_acquire);
    }

    /// Whether it has been stopped because of that. Thread rule: free.
    [[nodiscard]] bool has_ended() const noexcept {
        return has_failed_.load(std::memory_order_acquire);
    }

    /// What the trouble is, in words.
    [[nodiscard]] std::string trouble() const;

    /// Stops the channel. @return whether nothing of it is in flight any more: then what was not
    /// done has failed, and streams that wait for it are released
    bool stop() noexcept;

private:
    /// feed(), with ring_lock_ held.
    bool feed_ring() noexcept;
    /// Takes the first, which has been filled.
    void wait_for_room(std::list<waiting_ticket>& filled) noexcept;
    void submit(direction which, std::span<piece const> pieces, std::size_t bytes,
                semaphore_word const& begin, device_clock::time_point until) noexcept;
    [[nodiscard]] bool has_begun(ticket number) const noexcept;
    [[nodiscard]] bool has_stream_come(ticket number) const noexcept;
    void find_space();
    void open_channel(rm::abi::handle space);
    [[nodiscard]] rm::abi::notification& notifier() const noexcept {
        return *reinterpret_cast<rm::abi::notification*>(host_.data() + os::page_size());
    }
    [[nodiscard]] std::uint32_t* semaphore() const noexcept {
        return reinterpret_cast<std::uint32_t*>(host_.data());
    }
    [[nodiscard]] std::uint32_t* begun() const noexcept {
        return reinterpret_cast<std::uint32_t*>(view_.data() + begun_at);
    }
    /// In the block, behind the words of streams, where a look at it costs a trip over the link:
    /// the channel's own semaphores have addresses of 40 bits before Hopper, and host memory is
    /// above.
    static constexpr std::size_t begun_at =
        command_ring::spare_at + most_tickets * sizeof(std::uint32_t);

    // In the order in which they are made; they go the other way round, the channel first.
    cuda_session& session_;
    std::uint32_t engine_type_;
    cuda::device_block block_;
    rm::cuda_object object_; ///< the block, held until the channel is gone
    rm::cpu_view view_;
    os::region host_; ///< a page with the semaphores, a page with the error notifier
    cuda::host_registration registration_;
    std::uint64_t semaphore_on_gpu_ = 0;
    rm::memory_object notifier_page_;
    std::optional<gpu_channel> channel_;
    std::optional<rm::uvm_registration> known_to_uvm_;
    std::optional<command_ring> ring_;

    /// Of a ticket in the ring, for the watcher, in nanoseconds.
    struct limit {
        std::atomic<device_clock::rep> until{0};         ///< when its stream is late
        std::atomic<device_clock::rep> patience{0};      ///< how long its copies may take
        std::atomic<std::uint32_t const*> word{nullptr}; ///< of its stream; null: it waits for none
        std::atomic<bool> is_bulk{false};
    };
    std::array<limit, command_ring::most_tickets> limits_;
    ticket oldest_seen_ = 0; ///< by the watcher, since then and in this state
    bool had_come_ = false;
    device_clock::time_point since_{};

    std::atomic<ticket> given_{0};
    /// Never held while CUDA is called: a stream may count on the ring being fed meanwhile.
    std::mutex ring_lock_; // of the ring, and of taking from waiting_; before the next
    /// Held for a moment only: who submits a long list does not wait until the ring has been fed.
    std::mutex waiting_lock_; // of waiting_, used_ and the end
    std::list<waiting_ticket> waiting_;
    std::list<waiting_ticket>
        used_; ///< whose memory the next ones take: new pages cost 10 ns a piece
    std::atomic<std::size_t> waiting_pieces_{0}; ///< of waiting_, and one more for each ticket
    std::atomic<direction> latest_{direction::to_cpu};
    std::atomic<bool> is_in_trouble_{false}, is_stream_late_{false};
    std::atomic<bool> has_failed_{false};
    std::atomic<ticket> done_before_failure_{0};
};

} // namespace barmap::engine
