// SPDX-License-Identifier: MIT
#pragma once

#include "fake/gpu_channel.hpp"
#include "fake/kernel.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace barmap::fake::gpu {

/// The copy engine of a driver's GPUs: a thread that polls the doorbells from the first scheduled
/// channel on, and executes what the channels are given.
/// Thread rule: the functions for tests may be called at once, with or without the kernel's lock.
class copy_engine {
public:
    using clock = orders::clock;

    explicit copy_engine(kernel& host);
    copy_engine(copy_engine const&) = delete;
    copy_engine& operator=(copy_engine const&) = delete;
    ~copy_engine();

    // For tests.

    /// Fetches no entry until resume(). What a channel has executed stays so.
    void stall();
    void resume();
    /// The engine of this type copies nothing until release(), and no time passes for the devices.
    void hold(std::uint32_t engine_type);
    void release();
    /// The next n doorbells reach nobody. A later one finds the entries.
    void lose_doorbells(unsigned n);
    /// The next submission is fetched so much later.
    void delay_next(clock::duration wait);
    /// The next submission stops its channel, with this in the error notifier.
    void fail_next(std::uint32_t info = channel::info_mmu_fault);
    /// How long bytes for the host are under way that no flush follows; 20 ms before.
    void take_unflushed_after(clock::duration wait);
    [[nodiscard]] activity done() const;
    /// Whether all that was submitted is done, late bytes and notifiers included.
    [[nodiscard]] bool idle() const;

    // For the driver, with the kernel's lock held.

    /// A page with a doorbell, as long as it lives.
    void watch(std::weak_ptr<video_memory> page) { pages_.push_back(std::move(page)); }
    /// A channel, as long as it lives.
    void watch(std::weak_ptr<channel> which) { channels_.push_back(std::move(which)); }
    /// A channel whose own doorbell was never rung executes nothing, whatever others ring.
    void need_own_doorbells() noexcept { finds_unrung_ = false; }
    [[nodiscard]] std::uint32_t new_token() noexcept { return next_token_ += token_step; }
    /// Starts the thread if there is none.
    void start();

    /// Ends the thread, for which the kernel's lock must be free.
    void end() noexcept;

private:
    void run();
    bool turn();
    [[nodiscard]] bool is_held() const;
    [[nodiscard]] bool is_kept_from(channel const& one, clock::time_point now) const;
    void take_doorbells();
    void ring(std::uint32_t token);

    kernel& host_;
    int owner_;
    orders orders_;
    unsigned to_lose_ = 0;
    bool finds_unrung_ = true;
    std::vector<std::weak_ptr<video_memory>> pages_;
    std::vector<std::weak_ptr<channel>> channels_;
    static constexpr std::uint32_t first_token = 0x10a00, token_step = 3; // none is 0 or follows
    std::uint32_t next_token_ = first_token;
    std::atomic<bool> ends_ = false;
    std::thread thread_;
};

} // namespace barmap::fake::gpu
