// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/engine/engine_self_test.hpp"
#include "transfer/engine/transfer.hpp"

#include <barmap/report.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>

namespace barmap {

/// One copy engine on one GPU: started and self-tested when it is first needed. One that fails is
/// never used again; another one is started in its place, three times at most.
/// Thread rule: every member may be called at once.
class engine_slot {
public:
    engine_slot(engine::copy_registration const& entry, engine::gpu const& gpu)
        : entry_(entry), gpu_(gpu) {}

    [[nodiscard]] std::string_view name() const noexcept { return entry_.name; }

    /// Starts it if it has not been. Never throws for what it finds, but std::bad_alloc; the next
    /// call then starts it.
    [[nodiscard]] engine_report report();
    [[nodiscard]] bool is_started() const noexcept { return is_started_.load(); }

    /// The engine at work, or null where it is not usable.
    [[nodiscard]] std::shared_ptr<engine::worker> get();

    /// Makes sure that it is usable. @throws error errc::backend_absent or errc::backend_broken
    void require();

    /// Takes an engine that has failed out of use, and stops it.
    /// @return whether it has stopped by now, so that nothing of its copies is still under way
    bool retire(std::shared_ptr<engine::worker> const& failed);

    void count(std::size_t bytes) noexcept {
        copies_.fetch_add(1, std::memory_order_relaxed);
        bytes_.fetch_add(bytes, std::memory_order_relaxed);
    }

private:
    void start();
    void give_up();

    static constexpr unsigned most_failures = 3;
    engine::copy_registration const& entry_;
    engine::gpu const& gpu_;
    std::mutex lock_; // for what follows
    std::unique_ptr<engine::test_memory> test_memory_;
    std::shared_ptr<engine::worker> worker_;
    engine_report report_;
    unsigned failures_ = 0;
    std::atomic<bool> is_started_{false};
    std::atomic<std::uint64_t> copies_{0}, bytes_{0};
};

} // namespace barmap
