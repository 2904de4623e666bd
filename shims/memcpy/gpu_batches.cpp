// SPDX-License-Identifier: MIT
#include "gpu_batches.hpp"

#include "account.hpp"
#include "own_calls.hpp"

#include "base/config.hpp"
#include "base/log.hpp"
#include "base/thread.hpp"
#include "driver/cuda/driver_api.hpp"
#include "driver/cuda/driver_lifetime.hpp"

#include <barmap/device.hpp>
#include <barmap/error.hpp>

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
    starts.fetch_add(1);
    try {
        os::thread("barmap-start", [this] {
            own_calls const ours;
            start();
            starts.fetch_sub(1);
        }).detach();
    } catch (std::exception const& failure) {
        starts.fetch_sub(1);
        give_up(failure.what());
    }
    return state::starting;
}

void gpu_batches::start() noexcept {
    try {
        config::expect_allowed();
        context_ = cuda::primary_context::retain(cuda::device_with(ordinal_));
        queue_.emplace(device::open(ordinal_).batches());
        std::string const engine(queue_->name());
        // The program makes CUDA's own copies without this library, unless BARMAP_ENGINE names
        // them.
        if (engine != "channel" && engine != config::current().engine) {
            queue_.reset(); // no other thread has it before it is ready
            context_ = {};
            return give_up("batches go by the engine " + engine +
                           ", which is no better: see `barmap info`");
        }
        state_.store(state::ready, std::memory_order_release);
        static end_watch const watch; // made after what the core has, it goes before it at the exit
        log::info("cuMemcpyBatchAsync of GPU " + std::to_string(ordinal_) +
                  ": batches in pinned memory go by the engine " + engine);
    } catch (std::exception const& failure) {
        give_up(failure.what());
    }
}

void gpu_batches::give_up(std::string const& why) noexcept {
    // A start that the exit of the process has overtaken is nothing to report.
    if (state_.exchange(state::off) != state::off && cuda::drivers_are_up(owner_))
        say("cuMemcpyBatchAsync of GPU " + std::to_string(ordinal_) +
            " is CUDA's own from now on: " + why);
}

/// Whether one of those in flight has; forgets those that have ended. With lock_ held.
bool gpu_batches::has_a_batch_failed() {
    try {
        while (!in_flight_.empty() && queue_->done(in_flight_.front()))
            in_flight_.pop_front();
        return false;
    } catch (error const&) {
        in_flight_.clear();
        return true;
    }
}

namespace {

constexpr char failure_text[] =
    "a batch of copies has failed, and which of its bytes were copied is unknown: was memory "
    "freed while it was copied?";

} // namespace

std::optional<reason> gpu_batches::submit(std::span<copy_piece const> pieces, CUstream stream,
                                          CUresult& result) noexcept {
    constexpr CUresult illegal_address = 700; // as CUDA reports it, by a later call
    try {
        std::unique_lock hold(lock_);
        if (has_a_batch_failed()) {
            hold.unlock();
            give_up(failure_text);
            result = illegal_address;
            return std::nullopt;
        }
        hold.unlock();
        watch(queue_->submit(pieces, after{stream, {}}, then{stream}));
    } catch (error const& failure) {
        if (failure.code() == errc::copy_unfinished) {
            give_up(failure.what());
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

void gpu_batches::watch(batch_ticket ticket) noexcept {
    try {
        std::lock_guard const hold(lock_);
        in_flight_.push_back(ticket);
    } catch (std::bad_alloc const&) {
        // Copied all the same: its failure would show in the next one's.
    }
}

void gpu_batches::look_at_the_end() noexcept {
    try {
        if (!os::is_this_process(owner_))
            return;
        std::lock_guard const hold(lock_);
        if (state_.load() == state::ready && has_a_batch_failed())
            give_up(failure_text);
    } catch (std::exception const&) {
        // The process ends.
    }
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
