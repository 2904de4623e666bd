// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/engine/engine_self_test.hpp"
#include "transfer/engine/transfer.hpp"

#include <barmap/report.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace barmap {

/// One copy engine on one GPU, in one lane. The first use starts and self-tests it. An engine that
/// fails is not used again; the slot starts another one in its place, until three have failed.
/// Thread rule: threads may call every member concurrently.
class engine_slot {
public:
    engine_slot(engine::copy_registration const& entry, engine::gpu const& gpu, engine::lane lane)
        : entry_(entry), gpu_(gpu), lane_(lane) {}

    static constexpr unsigned most_failures = 3;

    [[nodiscard]] std::string_view name() const noexcept { return entry_.name; }

    /// Starts the engine if necessary. Reports every failure in the result, except std::bad_alloc,
    /// after which the next call starts the engine.
    [[nodiscard]] engine_report report();
    /// The report without a start; none before the first start.
    [[nodiscard]] std::optional<engine_report> known_report();

    /// The engine at work, or null if it is not usable.
    [[nodiscard]] std::shared_ptr<engine::worker> get();

    /// Starts the engine if necessary. @throws error errc::backend_absent or errc::backend_broken
    void require();

    /// Removes a failed engine.
    /// @param why one clause
    void give_up(std::shared_ptr<engine::worker> const& failed, std::string const& why);

    /// Removes an engine whose copy did not end in time, and stops it.
    /// @return whether it has stopped, so that none of its copies is in flight
    bool retire(std::shared_ptr<engine::worker> const& failed);

    /// Stops the engine at work and releases its memory; the next use starts another.
    /// @pre nobody else holds the engine. @throws error errc::backend_broken if it does not stop
    void release();

    void count(std::size_t bytes) noexcept {
        copies_.fetch_add(1, std::memory_order_relaxed);
        bytes_.fetch_add(bytes, std::memory_order_relaxed);
    }

private:
    void start();
    [[nodiscard]] engine_report report_now() const;
    void note(std::string const& what) const;

    engine::copy_registration const& entry_;
    engine::gpu const& gpu_;
    engine::lane const lane_;
    std::mutex lock_; // guards the members below
    std::shared_ptr<engine::test_memory const> test_memory_;
    std::shared_ptr<engine::worker> worker_;
    engine_report report_;
    unsigned failures_ = 0;
    bool is_started_ = false;
    std::atomic<bool> was_tried_{false};
    std::atomic<std::uint64_t> copies_{0}, bytes_{0};
};

/// One slot for each engine of the registry.
[[nodiscard]] std::vector<std::unique_ptr<engine_slot>> engine_slots(engine::gpu const& gpu,
                                                                     engine::lane lane);

/// The reports of engines that were started or tried. Starts none.
[[nodiscard]] std::vector<engine_report>
known_reports(std::vector<std::unique_ptr<engine_slot>> const& slots);

} // namespace barmap
