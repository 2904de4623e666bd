// SPDX-License-Identifier: MIT
#include "cuda/driver_lifetime.hpp"
#include "engine/batch.hpp"
#include "engine/channel/striped_lane.hpp"
#include "engine/spin.hpp"
#include "os/process.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

/// Batches by channels of our own in CUDA's address space: every pointer of CUDA's is an address
/// there, and a piece costs a few words instead of a call.
namespace barmap::engine {
namespace {

class channel_batches final : public batch_engine {
public:
    explicit channel_batches(gpu const& which) : gpu_(which) {}
    ~channel_batches() override { close(); }

    void start(batch_test_memory const&) override {
        expect_channels(gpu_);
        session_ = std::make_unique<cuda_session>(gpu_);
        open(lanes_.front());
    }

    [[nodiscard]] std::string_view form() const noexcept override {
        return "by a channel in CUDA's address space";
    }

    ticket submit(direction which, std::span<piece const> pieces, std::size_t bytes,
                  stream_order const& order) override {
        std::optional<cuda::context_scope> scope;
        if (order.after || order.then)
            scope.emplace(cuda::context_scope::on_device(gpu_.handle));
        bool const is_way_back = goes_against(which, pieces.size(), bytes);
        visit const way = choose_lane(order.after, is_way_back);
        lane& to = way.at;
        if (order.then)
            start_watcher(); // which may fail: before anything is under way
        std::unique_lock hold(to.busy);
        if (has_stopped())
            throw engine::has_stopped("it has stopped: see `barmap info`");
        ticket number = 0;
        try {
            number = to.channel->submit(which, pieces, bytes, order);
        } catch (error const&) {
            hold.unlock();
            notice_trouble(to); // why there was no room
            wait_for_end(to);
            throw;
        }
        hold.unlock();
        if (order.then)
            wake_watcher();
        return number | static_cast<ticket>(&to - lanes_.data()) << ticket_bits;
    }

    [[nodiscard]] state look(ticket number) noexcept override {
        lane& of = lanes_[(number >> ticket_bits) % lanes_.size()];
        if (!of.is_open.load(std::memory_order_acquire))
            return state::failed;
        state const now = of.channel->look(number & ((ticket{1} << ticket_bits) - 1));
        if (now == state::under_way)
            notice_trouble(of);
        return now;
    }

    [[nodiscard]] bool has_stopped() const noexcept override {
        return stopped_.load(std::memory_order_acquire);
    }

    [[nodiscard]] std::string why_it_stopped() const override {
        for (lane const& each : lanes_)
            if (each.is_stopping.load())
                return each.channel->trouble();
        return "it was closed";
    }

    bool close() noexcept override {
        if (!os::is_this_process(owner_))
            return false; // there is none of its threads here, and locks may be held for ever
        wait_for_all();
        stopped_.store(true, std::memory_order_release);
        {
            std::lock_guard const hold(watch_lock_);
            is_closing_ = true;
        }
        wake_.notify_one();
        if (watcher_.joinable())
            watcher_.join();
        bool is_over = true;
        for (lane& each : lanes_) {
            if (each.stopper.joinable())
                each.stopper.join();
            if (each.is_open.load(std::memory_order_acquire))
                is_over &= stop(each);
        }
        return is_over;
    }

private:
    static constexpr unsigned ticket_bits = 52;                   ///< above them, the lane
    static constexpr std::size_t own_lanes = 4, shared_lanes = 2; ///< by the engine they are on

    struct lane {
        std::mutex busy; ///< a submission
        std::unique_ptr<striped_lane> channel;
        std::atomic<unsigned> visits{0};
        std::atomic<bool> is_open{false};
        CUstream latest = nullptr; ///< stream that it waited for; under lanes_lock_
        std::atomic<bool> is_stopping{false};
        std::thread stopper;
    };

    /// Of a submission that has chosen its lane, which is no longer idle then.
    struct visit {
        explicit visit(lane& to) noexcept : at(to) { ++at.visits; }
        visit(visit const&) = delete;
        visit& operator=(visit const&) = delete;
        ~visit() { --at.visits; }
        lane& at;
    };

    void open(lane& which) {
        bool const is_shared = &which - lanes_.data() >= static_cast<std::ptrdiff_t>(own_lanes);
        cuda::relaxed_capture const relaxed;
        cuda::context_scope const scope(session_->context.get());
        which.channel = std::make_unique<striped_lane>(
            *session_, is_shared ? session_->shared_engines : session_->own_engine);
        which.is_open.store(true, std::memory_order_release);
    }

    /// Whether a batch is to go by engines that CUDA uses as well, since it has the other way of
    /// the link for itself there: batches both ways then take half the time. Smaller pieces gain
    /// nothing, and small batches are soon over.
    bool goes_against(direction which, std::size_t pieces, std::size_t bytes) const noexcept {
        constexpr std::size_t least_batch = std::size_t{1} << 20;
        std::size_t const least_piece = session_->shared_engines.size() > 1 ? 2048 : 16384;
        if (bytes < least_batch || bytes / pieces < least_piece || session_->shared_engines.empty())
            return false;
        direction const other = which == direction::to_gpu ? direction::to_cpu : direction::to_gpu;
        return std::any_of(lanes_.begin(), lanes_.begin() + own_lanes, [&](lane const& each) {
            return each.is_open.load(std::memory_order_acquire) && each.channel->is_copying(other);
        });
    }

    /// @return whether it is open. More lanes than one are a convenience: where the GPU has no
    /// memory for one, those that are open do its work.
    bool try_open(lane& which) noexcept {
        if (which.is_open.load(std::memory_order_relaxed))
            return true;
        try {
            open(which);
            return true;
        } catch (std::exception const&) {
            return false;
        }
    }

    visit choose_lane(std::optional<CUstream> const& stream, bool is_way_back) {
        if (!stream && !is_way_back)
            return visit(lanes_.front());
        std::lock_guard const hold(lanes_lock_);
        if (stream)
            return lane_after(*stream, is_way_back);
        return visit(lanes_[try_open(lanes_[own_lanes]) ? own_lanes : 0]);
    }

    /// A lane for what waits for this stream. One stream's batches stay on a lane, so that they
    /// hold up no other's; there are more streams than lanes only where more than three wait.
    /// @pre lanes_lock_ is held
    visit lane_after(CUstream stream, bool is_way_back) {
        std::size_t const first = is_way_back ? own_lanes + 1 : 1;
        std::size_t const end = is_way_back ? lanes_.size() : own_lanes;
        std::size_t found = 0, opened = 0;
        for (std::size_t i = first; i < end; ++i) {
            lane& each = lanes_[i];
            bool const is_open = each.is_open.load(std::memory_order_relaxed);
            if (is_open && each.latest == stream)
                return visit(each);
            if (is_open)
                opened = i;
            // In this order: a visit ends when its batch is there.
            if (found == 0 && (!is_open || (each.visits.load() == 0 && each.channel->is_idle())))
                found = i;
        }
        if (found == 0)
            found = first + next_shared_++ % (end - first);
        if (!try_open(lanes_[found])) {
            if (opened == 0 && !is_way_back)
                open(lanes_[found]); // not the one for what waits for nothing: says why
            found = opened;
        }
        if (found == 0) // none for the way back: as any other batch
            return lane_after(stream, false);
        lanes_[found].latest = stream;
        return visit(lanes_[found]);
    }

    void notice_trouble(lane& of) noexcept {
        if (!of.channel->is_in_trouble() || of.is_stopping.exchange(true))
            return;
        stopped_.store(true, std::memory_order_release);
        try {
            of.stopper = std::thread([&of] { stop(of); });
        } catch (std::exception const&) {
            of.is_stopping.store(false); // the next look tries again
        }
    }

    /// So that a submission that throws leaves nothing under way.
    static void wait_for_end(lane const& of) {
        constexpr std::chrono::seconds most{10};
        if (of.is_stopping.load() &&
            spin([&] { return of.channel->has_ended(); }, [] { return false; },
                 std::chrono::steady_clock::now() + most) != outcome::done)
            throw error(errc::copy_unfinished, "submit a batch to the channel", "",
                        "it does not stop, and pieces may still be copied: keep their memory");
    }

    /// Whoever submitted may have dropped the engine since; streams count on the bytes.
    void wait_for_all() const noexcept {
        constexpr std::chrono::microseconds pause{20};
        for (lane const& each : lanes_)
            while (each.is_open.load(std::memory_order_acquire) && !each.is_stopping.load() &&
                   !each.channel->is_idle() && !each.channel->is_in_trouble() &&
                   cuda::drivers_are_up(owner_)) // else no stream goes on
                std::this_thread::sleep_for(pause);
    }

    static bool stop(lane& which) noexcept {
        {
            std::lock_guard const hold(which.busy); // no submission is half made
        }
        return which.channel->stop(); // may take as long as the driver takes
    }

    // Nobody may look after a batch that only a stream waits for. Its failure is to let the stream
    // go on all the same.
    void start_watcher() {
        if (is_watched_.load(std::memory_order_acquire))
            return;
        std::lock_guard const hold(watch_lock_);
        if (!watcher_.joinable())
            watcher_ = std::thread([this] { watch(); });
        is_watched_.store(true, std::memory_order_release);
    }

    void wake_watcher() {
        // Exchanged on both sides: either it sees the batch, or this sees that it has parked.
        if (is_parked_.exchange(false)) {
            std::lock_guard const hold(watch_lock_);
            wake_.notify_one();
        }
    }

    void watch() {
        constexpr std::chrono::milliseconds pause{10};
        constexpr int pauses_before_parking = 100;
        std::unique_lock hold(watch_lock_);
        for (int quiet = 0; !is_closing_; ++quiet) {
            is_parked_.exchange(quiet >= pauses_before_parking);
            if (look_at_all())
                quiet = 0;
            if (is_parked_.load())
                wake_.wait(hold, [&] { return is_closing_ || !is_parked_.load(); });
            else
                wake_.wait_for(hold, pause);
        }
    }

    /// @return whether anything is under way
    bool look_at_all() noexcept {
        bool result = false;
        for (lane& each : lanes_) {
            if (!each.is_open.load(std::memory_order_acquire) || each.channel->has_ended() ||
                each.channel->is_idle())
                continue;
            result = true;
            notice_trouble(each);
        }
        if (result)
            is_parked_.store(false);
        return result;
    }

    gpu gpu_;
    os::process_id owner_ = os::this_process();
    std::unique_ptr<cuda_session> session_;
    /// The first of each engine is for what waits for nothing. They go before the session.
    std::array<lane, own_lanes + shared_lanes> lanes_;
    std::mutex lanes_lock_;
    std::size_t next_shared_ = 0;
    std::atomic<bool> stopped_{false};

    std::mutex watch_lock_;
    std::condition_variable wake_;
    std::thread watcher_;
    bool is_closing_ = false;
    std::atomic<bool> is_watched_{false}, is_parked_{false};
};

} // namespace

std::unique_ptr<batch_engine> make_channel_batches(gpu const& which) {
    return std::make_unique<channel_batches>(which);
}

} // namespace barmap::engine
