// SPDX-License-Identifier: MIT
#include "gpu_batches.hpp"

#include "account.hpp"
#include "judgement.hpp"
#include "own_calls.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"
#include "system/thread.hpp"

#include <barmap/device.hpp>
#include <barmap/error.hpp>
#include <barmap/report.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <new>
#include <thread>

namespace barmap::memcpy_dropin {
namespace {

constexpr std::size_t most_gpus = 64;
constinit std::array<std::atomic<gpu_batches*>, most_gpus> places{};
constinit std::atomic<int> starts{0}; ///< threads that start one now

} // namespace

/// Looks at the batches when the process exits, while CUDA can still be asked.
struct gpu_batches::end_watch {
    end_watch() = default;
    end_watch(end_watch const&) = delete;
    end_watch& operator=(end_watch const&) = delete;
    ~end_watch() {
        for (std::atomic<gpu_batches*> const& each : places)
            if (gpu_batches* const one = each.load(std::memory_order_acquire))
                one->look_at_the_end();
    }
};

gpu_batches* gpu_batches::of(int ordinal) noexcept {
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= places.size())
        return nullptr;
    std::atomic<gpu_batches*>& place = places[static_cast<std::size_t>(ordinal)];
    if (gpu_batches* const known = place.load(std::memory_order_acquire))
        return known;
    auto* made = new (std::nothrow) gpu_batches(ordinal);
    gpu_batches* first = nullptr;
    if (!made || place.compare_exchange_strong(first, made))
        return made;
    delete made;
    return first;
}

gpu_batches::state gpu_batches::now() noexcept {
    state is = state_.load(std::memory_order_acquire);
    if (is != state::idle || !state_.compare_exchange_strong(is, state::starting))
        return is;
    begin();
    return state::starting;
}

void gpu_batches::begin() noexcept {
    starts.fetch_add(1);
    try {
        os::thread("barmap-start", [this] {
            own_calls const ours;
            start();
            starts.fetch_sub(1);
        }).detach();
    } catch (std::exception const& failure) {
        starts.fetch_sub(1);
        (void)give_up(failure.what());
    }
}

void gpu_batches::start() noexcept {
    try {
        bool const is_first = !queue_; // else calls may use it meanwhile
        if (is_first) {
            expect_settings();
            context_ = cuda::primary_context::retain(cuda::device_with(ordinal_));
            queue_.emplace(device::open(ordinal_).batch_queue());
        }
        std::string const engine(queue_->open_queues());
        // The program makes CUDA's own copies without this library, unless BARMAP_ENGINE names
        // them.
        if (engine != "channel" && engine != setting("BARMAP_ENGINE")) {
            if (is_first) { // no other thread has it before it is ready
                queue_.reset();
                context_ = {};
            }
            (void)give_up("barmap's engine here is " + engine +
                          ", which is no better: see `barmap info`");
            return;
        }
        auto is = state::starting; // a thread that found a failed batch may have given up meanwhile
        bool const is_ready =
            state_.compare_exchange_strong(is, state::ready, std::memory_order_release);
        static end_watch const watch; // made after what the core has, it goes before it at the exit
        if (is_ready)
            log_line(log_level::info, "cuMemcpyBatchAsync of GPU " + std::to_string(ordinal_) +
                                          ": batches in pinned memory go by the engine " + engine);
    } catch (std::exception const& failure) {
        (void)give_up(failure.what());
    }
}

bool gpu_batches::give_up(std::string const& why) noexcept {
    bool const is_first = state_.exchange(state::off) != state::off;
    // A start that the exit of the process has overtaken is nothing to report.
    if (is_first && cuda::drivers_are_up(owner_))
        say("cuMemcpyBatchAsync of GPU " + std::to_string(ordinal_) +
            ": CUDA copies all batches from now on: " + why);
    return is_first;
}

namespace {

constexpr char failure_text[] =
    "a batch of copies has failed, and which of its bytes were copied is unknown: free memory only "
    "after its copy";

} // namespace

bool gpu_batches::has_a_batch_failed(bool looks_at_graphs) noexcept {
    bool has_failed = false;
    std::vector<int> ended;
    try {
        unheld_.expect_none_failed(*queue_, ended);
    } catch (error const& failure) {
        has_failed = failure.code() == errc::copy_unfinished;
    } catch (std::exception const&) {
        // The next call asks again.
    }
    for (int const each : ended)
        stores_.fetch_sub(each);
    if (has_graphs_.load(std::memory_order_relaxed) &&
        (looks_at_graphs || looks_at_graphs_.is_due()))
        has_failed |= has_a_replay_failed();
    return has_failed && give_up(failure_text);
}

std::optional<reason> gpu_batches::submit(std::span<copy_piece const> pieces, memory_pair way,
                                          CUstream stream, CUresult& result) noexcept {
    try {
        auto const ticket = queue_->submit_started(pieces, batch_queue::after{stream, {}},
                                                   batch_queue::then{stream});
        if (!ticket) {
            auto is = state::ready;
            if (state_.compare_exchange_strong(is, state::starting))
                begin();
            return reason::starting;
        }
        watch(*ticket, way == memory_pair::to_cpu);
    } catch (error const& failure) {
        if (failure.code() == errc::backend_broken) { // the engine has stopped
            if (!give_up(failure_text)) // of a batch that is being found to have failed
                return reason::off;
            result = illegal_address;
            return std::nullopt;
        }
        if (failure.code() == errc::copy_unfinished) {
            (void)give_up(failure.what());
            result = cuda::error_unknown;
            return std::nullopt;
        }
        return reason::refused_here;
    } catch (std::exception const&) {
        return reason::refused_here;
    }
    result = cuda::success;
    return std::nullopt;
}

bool gpu_batches::capture(std::span<copy_piece const> pieces, CUstream stream) noexcept {
    // As CUDA's copy nodes, which have no limit.
    constexpr std::chrono::hours longest(24);
    if (!can_have_graphs_.load(std::memory_order_relaxed))
        return false;
    try {
        std::lock_guard const hold(graphs_lock_);
        if (graphs_.size() >= most_graphs_) {
            std::erase_if(graphs_, [&](batch_ticket each) { return is_over(each); });
            most_graphs_ = std::max(most_graphs_, 2 * graphs_.size());
        }
        graphs_.reserve(most_graphs_);
        graphs_.push_back(
            queue_->submit(pieces, batch_queue::after{stream, longest}, batch_queue::then{stream}));
        has_graphs_.store(true, std::memory_order_relaxed);
        return true;
    } catch (error const& failure) {
        if (failure.code() == errc::unsupported_operation) // before Hopper, say
            can_have_graphs_.store(false, std::memory_order_relaxed);
    } catch (std::exception const&) {
        // Copy nodes serve as well.
    }
    return false;
}

bool gpu_batches::is_over(batch_ticket ticket) noexcept {
    try {
        return queue_->done(ticket);
    } catch (error const& failure) {
        has_a_failed_replay_ |= failure.code() == errc::copy_unfinished;
    } catch (std::exception const&) {
        // The next look asks again.
    }
    return false;
}

// One that is alive tells of all replays.
bool gpu_batches::has_a_replay_failed() noexcept {
    std::lock_guard const hold(graphs_lock_);
    while (!graphs_.empty() && is_over(graphs_.back()))
        graphs_.pop_back();
    return has_a_failed_replay_;
}

void gpu_batches::watch(batch_ticket ticket, bool is_store) noexcept {
    try {
        unheld_.leave(ticket, is_store);
        stores_.fetch_add(is_store);
    } catch (std::bad_alloc const&) {
        // Copied all the same: its failure would show in the next one's.
    }
}

void gpu_batches::look_at_the_end() noexcept {
    if (os::is_this_process(owner_) && state_.load() == state::ready)
        (void)has_a_batch_failed(true);
}

void gpu_batches::wait_for_starts() noexcept {
    constexpr std::chrono::milliseconds pause{1};
    for (int i = 0; i < 1000 && starts.load() != 0; ++i)
        std::this_thread::sleep_for(pause);
}

void gpu_batches::destroy_all() noexcept {
    wait_for_starts();
    for (std::atomic<gpu_batches*>& each : places)
        delete each.exchange(nullptr);
}

} // namespace barmap::memcpy_dropin
