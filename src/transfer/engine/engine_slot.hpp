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

/// One copy engine on one GPU, in one lane: started and self-tested when it is first needed. One
/// that fails is never used again; another one is started in its place, three times at most. Thread
/// rule: every member may be called at once.
class engine_slot {
public:
    engine_slot(engine::copy_registration const& entry, engine::gpu const& gpu, engine::lane lane)
        : entry_(entry), gpu_(gpu), lane_(lane) {}

    static constexpr unsigned most_failures = 3;

    [[nodiscard]] std::string_view name() const noexcept { return entry_.name; }

    /// Starts it if it has not been. Never throws for what it finds, but std::bad_alloc; the next
    /// call then starts it.
    [[nodiscard]] engine_report report();
    /// The same without a start; none where there has been none.
    [[nodiscard]] std::optional<engine_report> known_report();

    /// The engine at work, or null where it is not usable.
    [[nodiscard]] std::shared_ptr<engine::worker> get();

    /// Makes sure that it is usable. @throws error errc::backend_absent or errc::backend_broken
    void require();

    /// Takes an engine that has failed out of use.
    /// @param why one clause
    void give_up(std::shared_ptr<engine::worker> const& failed, std::string const& why);

    /// Takes an engine whose copy did not end in time out of use, and stops it.
    /// @return whether it has stopped by now, so that nothing of its copies is still under way
    bool retire(std::shared_ptr<engine::worker> const& failed);

    /// Ends the engine at work and releases its memory; the next one that wants it starts another.
    /// @pre nobody else has it. @throws error errc::backend_broken if it does not stop
    void let_go();

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
    std::mutex lock_; // for what follows
    std::shared_ptr<engine::test_memory const> test_memory_;
    std::shared_ptr<engine::worker> worker_;
    engine_report report_;
    unsigned failures_ = 0;
    bool is_started_ = false;
    std::atomic<bool> was_tried_{false};
    std::atomic<std::uint64_t> copies_{0}, bytes_{0};
};

/// For each engine of the registry.
[[nodiscard]] std::vector<std::unique_ptr<engine_slot>> engine_slots(engine::gpu const& gpu,
                                                                     engine::lane lane);

/// Of those that have been started, or tried. Starts none.
[[nodiscard]] std::vector<engine_report>
known_reports(std::vector<std::unique_ptr<engine_slot>> const& slots);

} // namespace barmap
