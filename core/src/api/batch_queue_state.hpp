// SPDX-License-Identifier: MIT
#pragma once

#include "api/graph_batches.hpp"
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
#include <string_view>
#include <vector>

namespace barmap {

/// The state that all handles of one GPU's batch queue share: the engine at work, and the failed
/// engines before it, which still answer for their tickets.
/// Thread rule: threads may call every member concurrently.
struct batch_queue_state final : checkpoint::survivor {
    explicit batch_queue_state(std::shared_ptr<device_state> of) : device(std::move(of)) {}
    batch_queue_state(batch_queue_state const&) = delete;
    batch_queue_state& operator=(batch_queue_state const&) = delete;
    ~batch_queue_state();

    /// An engine at work and its identity in tickets. It lives as long as this state.
    struct at_work {
        engine::copy_engine* engine = nullptr;
        std::uint64_t identity = 0;
        engine_slot* slot = nullptr;
    };

    /// The engine at work; starts one if there is none or it has stopped. @throws error if none
    /// works
    [[nodiscard]] at_work get();

    /// CUDA's own copies, if they run beside another engine. Starts nothing, since other work may
    /// wait for the caller's submission.
    [[nodiscard]] std::optional<at_work> get_short();
    /// The engine at work; starts none. @return nothing if none has been started, or a checkpoint
    /// has released it. @throws engine::has_stopped if it has failed
    [[nodiscard]] std::optional<at_work> get_started();

    /// Whether a submission starts an engine where none is at work.
    enum class missing { is_started, is_refused };
    /// See batch_queue::submit() and submit_started(). @return nothing if no engine is at work and none may be started
    /// @throws engine::has_stopped if it has failed and none may be started in its place
    [[nodiscard]] std::optional<batch_ticket> submit(std::span<copy_piece const> pieces,
                                                     std::optional<detail::batch_after> begin,
                                                     std::optional<detail::batch_then> end,
                                                     missing if_none);

    /// See batch_queue::open_queues().
    [[nodiscard]] std::string_view open_queues();

    /// Starts CUDA's own copies, unless they are the only allowed engine.
    void start_short() noexcept;

    /// In tickets of batches in graphs; no engine's identity.
    static constexpr std::uint64_t of_graphs = 0;

    /// The engine with this identity, or null. Takes no lock.
    [[nodiscard]] engine::copy_engine* find(std::uint64_t identity) noexcept;

    /// The state of a batch of an engine that a checkpoint released. Takes no lock.
    [[nodiscard]] engine::state find_end(std::uint64_t identity,
                                         engine::ticket number) const noexcept;

    [[nodiscard]] bool is_busy() override;
    void release() override;
    void restore() override {} // the next submission starts an engine

    os::seldom looks{checkpoint::shortest}; ///< limits checks for a former CUDA
    std::shared_ptr<device_state> const device;
    cuda::primary_context const context = cuda::primary_context::retain(device->gpu.handle);
    std::vector<std::unique_ptr<engine_slot>> const slots =
        engine_slots(device->gpu, engine::lane::cuda);

    graph_batches graphs{device};

private:
    [[nodiscard]] batch_ticket capture(std::span<copy_piece const> pieces,
                                       engine::stream_order const& order);
    void give_up_stopped(at_work& which);
    [[nodiscard]] at_work start(std::span<engine_slot* const> order);
    [[nodiscard]] std::vector<engine_slot*> allowed() const;
    struct started {
        std::uint64_t identity = 0;
        engine::copy_engine* engine = nullptr;
        std::shared_ptr<engine::worker> worker; ///< owns the engine
    };
    std::mutex lock_; // guards the members below
    /// In the order of their start; each slot starts at most most_failures engines.
    std::vector<started> all_{slots.size() * engine_slot::most_failures};
    std::atomic<std::size_t> count_{0}; ///< of the entries in all_; entries below it do not change
    std::atomic_flag notices_exit_;     ///< set by the first submission
    at_work current_, short_;           ///< the latter for short batches
    /// A released engine. The list changes only while no thread holds a pass.
    struct ended {
        std::uint64_t identity = 0;
        bool has_failed = false; ///< so its unfinished batches failed
        std::array<engine::ticket, engine::most_queues> done{}; ///< the last one of each queue
    };
    std::vector<ended> ended_;
    checkpoint::membership survives_{*this};
};

} // namespace barmap
