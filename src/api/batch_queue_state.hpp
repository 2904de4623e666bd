// SPDX-License-Identifier: MIT
#pragma once

#include "gpu/device_state.hpp"
#include "transfer/engine/batch.hpp"

#include <barmap/batch_queue.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace barmap {

/// What all handles of one GPU's batches share: the engine at work, and those before it that have
/// failed, for the tickets that they gave.
/// Thread rule: every member may be called at once.
struct batch_queue_state {
    explicit batch_queue_state(std::shared_ptr<device_state> of) : device(std::move(of)) {}
    batch_queue_state(batch_queue_state const&) = delete;
    batch_queue_state& operator=(batch_queue_state const&) = delete;
    ~batch_queue_state();

    /// An engine at work, with the number by which tickets name it. It lives as long as this.
    struct at_work {
        engine::batch_engine* engine = nullptr;
        std::uint64_t identity = 0;
        std::size_t kind = 0; ///< in the registry
    };

    /// The one that works, or another one in its place. @throws error if none does
    [[nodiscard]] at_work get();

    /// The one that gave a ticket, or null. Takes no lock.
    [[nodiscard]] engine::batch_engine* find(std::uint64_t identity) noexcept;

    [[nodiscard]] std::vector<engine_report> reports();

    /// A batch that an engine of this kind has taken.
    void count(std::size_t kind, std::size_t bytes) noexcept {
        kinds_[kind].batches.fetch_add(1, std::memory_order_relaxed);
        kinds_[kind].bytes.fetch_add(bytes, std::memory_order_relaxed);
    }

    std::shared_ptr<device_state> const device;

private:
    bool start(engine::batch_registration const& entry, engine_report& report);

    static constexpr unsigned most_failures = 3;
    struct kind {
        unsigned failures = 0;
        engine_report report; ///< without a name before it has been tried
        std::atomic<std::uint64_t> batches{0}, bytes{0}; ///< free of the lock
    };
    std::mutex lock_; // for what follows; kept while an engine starts
    std::unique_ptr<engine::batch_test_memory> test_memory_;
    struct started {
        std::uint64_t identity = 0;
        std::unique_ptr<engine::batch_engine> engine;
    };
    /// In the order of their start: each kind starts again until it has failed too often.
    std::vector<started> all_{engine::batch_registry().size() * most_failures};
    std::atomic<std::size_t> count_{0}; ///< of those in all_, which stay as they are
    at_work current_;
    std::vector<kind> kinds_{engine::batch_registry().size()}; ///< as in the registry
};

} // namespace barmap
