// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/context_scope.hpp"
#include "cuda/device_block.hpp"
#include "cuda/gpu.hpp"
#include "cuda/host_registration.hpp"
#include "engine/batch.hpp"
#include "engine/channel/command_ring.hpp"
#include "engine/channel/generation.hpp"
#include "engine/channel/gpu_channel.hpp"
#include "os/region.hpp"
#include "rm/client.hpp"
#include "rm/cuda_memory.hpp"
#include "rm/uvm.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace barmap::engine {

/// What all channels in CUDA's address space of one GPU have in common.
struct cuda_session {
    explicit cuda_session(cuda::gpu const& which);

    cuda::gpu const gpu;
    std::shared_ptr<rm::client const> client;
    driver_series series;
    generation const& kind;
    usermode_page usermode;
    std::vector<std::uint32_t> own_engine, shared_engines; ///< the latter for the way back
    cuda::primary_context context;
    /// CUDA's address space as an object of the client, once the first channel has found it.
    std::optional<rm::memory_object> space;
};

/// One channel in CUDA's own address space, where every pointer of CUDA's is an address: what it
/// is given runs in order, so that what has to wait for a stream gets a channel of its own.
/// Thread rule: look() at any time; the others by one caller at a time.
class cuda_lane {
public:
    /// Finds CUDA's address space, if no lane has before. @pre the session's context is current
    /// @throws error
    cuda_lane(cuda_session& session, std::uint32_t engine_type);
    cuda_lane(cuda_lane const&) = delete;
    cuda_lane& operator=(cuda_lane const&) = delete;
    ~cuda_lane() { stop(); }

    /// @pre it has not failed. @throws error what CUDA says of a stream; errc::backend_broken if no
    /// room came
    ticket submit(direction which, std::span<piece const> pieces, std::size_t bytes,
                  stream_order const& order);

    /// Where a batch is. @return done, failed, or under way
    [[nodiscard]] batch_engine::state look(ticket number) const noexcept;

    /// The last ticket that was given.
    [[nodiscard]] ticket latest() const noexcept { return ring_->next() - 1; }

    /// Whether nothing is under way: also once it has been ended, with what was promised set.
    [[nodiscard]] bool is_idle() const noexcept { return ring_->progress() + 1 >= ring_->next(); }

    /// Whether it is busy, with a batch that goes this way.
    [[nodiscard]] bool is_copying(direction which) const noexcept {
        return !is_idle() && latest_.load(std::memory_order_relaxed) == which;
    }

    /// Whether the driver has stopped the channel, or its oldest batch is late.
    [[nodiscard]] bool is_in_trouble() const noexcept;

    /// Whether it has been ended because of that.
    [[nodiscard]] bool has_ended() const noexcept {
        return has_failed_.load(std::memory_order_acquire);
    }

    /// What it is, in words.
    [[nodiscard]] std::string trouble() const;

    /// Ends the channel. No submission may be half made. @return whether nothing of it is under way
    /// any more: then what was not done has failed, and streams that wait for it go on
    bool stop() noexcept;

private:
    using clock = std::chrono::steady_clock;
    /// Of a batch: until when it may wait for a stream, and how much it copies then.
    struct limits {
        clock::time_point until;
        std::size_t bytes = 0, pieces = 0;
    };
    /// When one that is submitted now is late.
    [[nodiscard]] clock::time_point late_with(limits all) const noexcept;
    /// How long that much may take, once nothing waits any more.
    [[nodiscard]] clock::duration patience(std::size_t bytes, std::size_t pieces) const noexcept;
    void wait_for_room(std::size_t pieces);
    void find_space();
    void open_channel(rm::abi::handle space);
    [[nodiscard]] rm::abi::notification& notifier() const noexcept {
        return *reinterpret_cast<rm::abi::notification*>(host_.data() + os::page_size());
    }
    [[nodiscard]] std::uint32_t* semaphore() const noexcept {
        return reinterpret_cast<std::uint32_t*>(host_.data());
    }

    // In the order in which they are made; they go the other way round, the channel first.
    cuda_session& session_;
    std::uint32_t engine_type_;
    cuda::device_block block_;
    rm::cuda_object object_; ///< the block, held until the channel is gone
    cpu_view view_;
    os::region host_; ///< a page with the semaphore, a page with the error notifier
    cuda::host_registration registration_;
    std::uint64_t semaphore_on_gpu_ = 0;
    rm::memory_object notifier_page_;
    std::optional<gpu_channel> channel_;
    std::optional<rm::uvm_registration> known_to_uvm_;
    std::optional<command_ring> ring_;

    std::array<limits, command_ring::most_tickets> limits_{};                   ///< by ticket
    std::array<std::atomic<clock::rep>, command_ring::most_tickets> late_at_{}; ///< by ticket
    std::atomic<direction> latest_{direction::to_cpu};
    std::atomic<ticket> promised_{0}; ///< the last that a stream waits for
    std::atomic<bool> has_failed_{false};
    std::atomic<ticket> done_before_failure_{0};
};

} // namespace barmap::engine
