// SPDX-License-Identifier: MIT
#pragma once

#include "gpu/device_state.hpp"
#include "transfer/engine/engine_slot.hpp"

#include <barmap/batch_queue.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace barmap {

/// What all handles of one GPU's batches share: the engine at work, and those before it that have
/// failed, for the tickets that they gave.
/// Thread rule: every member may be called at once.
struct batch_queue_state final : checkpoint::survivor {
    explicit batch_queue_state(std::shared_ptr<device_state> of) : device(std::move(of)) {}
    batch_queue_state(batch_queue_state const&) = delete;
    batch_queue_state& operator=(batch_queue_state const&) = delete;
    ~batch_queue_state();

    /// An engine at work, with the number by which tickets name it. It lives as long as this.
    struct at_work {
        engine::copy_engine* engine = nullptr;
        std::uint64_t identity = 0;
        engine_slot* slot = nullptr;
    };

    /// The one that works, or another one in its place. @throws error if none does
    [[nodiscard]] at_work get();

    /// CUDA's own copies, if they run beside another engine. Starts nothing: others may wait for the
    /// submission that asks.
    [[nodiscard]] std::optional<at_work> get_short();
    /// Starts them, where they are not the only engine that is allowed and can be had.
    void start_short() noexcept;

    /// The one that gave a ticket, or null. Takes no lock.
    [[nodiscard]] engine::copy_engine* find(std::uint64_t identity) noexcept;

    /// Where a batch is of one that is gone since a checkpoint. Takes no lock.
    [[nodiscard]] engine::state find_end(std::uint64_t identity,
                                         engine::ticket number) const noexcept;

    [[nodiscard]] bool is_busy() override;
    void let_go() override;
    void bring_back() override {} // the next submission starts an engine

    os::seldom looks{checkpoint::shortest}; ///< whether the engine is of a former CUDA
    std::shared_ptr<device_state> const device;
    cuda::primary_context const context = cuda::primary_context::retain(device->gpu.handle);
    std::vector<std::unique_ptr<engine_slot>> const slots =
        engine_slots(device->gpu, engine::lane::cuda);

private:
    void give_up_stopped(at_work& which);
    [[nodiscard]] at_work start(std::span<engine_slot* const> order);
    [[nodiscard]] std::vector<engine_slot*> allowed() const;
    struct started {
        std::uint64_t identity = 0;
        engine::copy_engine* engine = nullptr;
        std::shared_ptr<engine::worker> worker; ///< which has it
    };
    std::mutex lock_; // for what follows
    /// In the order of their start: each slot starts engines until it has failed too often.
    std::vector<started> all_{slots.size() * engine_slot::most_failures};
    std::atomic<std::size_t> count_{0}; ///< of those in all_, which stay as they are
    at_work current_, short_;           ///< the latter for short batches
    /// Those that have been let go. Changed only while no pass is held.
    struct ended {
        std::uint64_t identity = 0;
        bool has_failed = false;                                ///< what it had not done by then
        std::array<engine::ticket, engine::most_queues> done{}; ///< the last one, of each queue
    };
    std::vector<ended> ended_;
    checkpoint::membership survives_{*this};
};

} // namespace barmap
