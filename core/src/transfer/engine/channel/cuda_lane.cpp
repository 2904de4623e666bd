// SPDX-License-Identifier: MIT
#include "base/config.hpp"
#include "cuda/driver_lifetime.hpp"
#include "system/process.hpp"
#include "system/process_exit.hpp"
#include "system/thread.hpp"
#include "transfer/engine/channel/passing.hpp"
#include "transfer/engine/channel/striped_queue.hpp"
#include "transfer/engine/cuda_addresses.hpp"
#include "transfer/engine/engine.hpp"
#include "transfer/engine/own_thread.hpp"
#include "transfer/engine/queues.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

/// The channel in lane cuda: barmap's channels in CUDA's address space. Every CUDA pointer is an
/// address there, and a piece costs a few words instead of a call.
namespace barmap::engine {
namespace {

class cuda_lane final : public copy_engine {
public:
    cuda_lane(gpu const& which, std::optional<cuda::block_addresses> addresses)
        : gpu_(which), addresses_(addresses) {}
    ~cuda_lane() override { close(); }

    void start() override {
        expect_channels(gpu_);
        session_ = std::make_unique<cuda_session>(gpu_, addresses_);
        (void)own_.choose({}, direction::to_cpu);
        watcher_ = start_own_thread("barmap-watch", "start the thread that watches a channel",
                                    [this] { watch(); });
    }

    [[nodiscard]] std::string_view form() const noexcept override {
        return "by a channel in CUDA's address space";
    }

    std::unique_ptr<reachable> reach(cuda::memory const& memory) override {
        return reach_by_cuda(memory);
    }
    std::unique_ptr<reachable> reach(std::span<std::byte> pages) override {
        return reach_by_cuda(gpu_.handle, pages);
    }
    std::unique_ptr<reachable> reach_pinned(std::span<std::byte> memory) override {
        return reach_pinned_by_cuda(memory);
    }

    ticket submit(direction which, std::span<copy_piece const> pieces, std::size_t bytes,
                  stream_order const& order) override {
        std::optional<cuda::context_scope> scope;
        if (order.after || order.then)
            scope.emplace(cuda::context_scope::on_device(gpu_.handle));
        expect_usable(order, gpu_.handle);
        queue_set::visit const to = choose(which, pieces.size(), bytes, order.after);
        ticket number = 0;
        try {
            std::lock_guard const hold(to->busy);
            if (has_stopped())
                throw engine::has_stopped("it has stopped: see `barmap info`");
            number = to->queue->submit(which, pieces, bytes, order);
        } catch (engine::has_stopped const&) {
            stopped_.store(true, std::memory_order_release);
            throw;
        }
        // Both sides exchange: either the watcher sees the batch, or this thread sees that the
        // watcher is parked.
        if (is_parked_.exchange(false) || to->queue->has_waiting())
            wake_watcher(is_called_);
        return number | static_cast<ticket>(index_of(*to)) << ticket_bits;
    }

    void open_queues() override {
        own_.open_all();
        if (!session_->shared_engines.empty())
            passing_.open_all();
    }

    [[nodiscard]] state poll(ticket number) noexcept override {
        std::size_t const index = number >> ticket_bits;
        striped_queue const* const of = index < all_slots() ? slot(index).get() : nullptr;
        return of ? of->poll(number & ((ticket{1} << ticket_bits) - 1)) : state::never_given;
    }

    [[nodiscard]] bool is_idle() noexcept override {
        for (std::size_t i = 0; i < all_slots(); ++i)
            if (striped_queue const* const each = slot(i).get();
                each && !each->is_idle() && !each->is_in_trouble())
                return false;
        return true;
    }

    [[nodiscard]] bool is_of_former_cuda() override {
        if (!session_->names)
            return false;
        cuda::memory_names const& names = *session_->names;
        if (auto const copy = session_->client->try_duplicate(names.client, names.memory)) {
            session_->client->free(*copy);
            return false;
        }
        // The duplication may have failed for another, rare reason: ask CUDA.
        auto const now = cuda::memory_names::of(gpu_.handle, session_->first_block);
        return now && now->are_later_than(names);
    }

    [[nodiscard]] bool has_stopped() const noexcept override {
        return stopped_.load(std::memory_order_acquire);
    }

    [[nodiscard]] std::string why_it_stopped() override {
        for (std::size_t i = 0; i < all_slots(); ++i)
            if (striped_queue const* const each = slot(i).get(); each && each->is_in_trouble())
                return each->trouble();
        return "it was closed";
    }

    bool close() noexcept override {
        if (!os::is_this_process(owner_))
            return false; // a forked child lacks its threads, and locks may be held forever
        if (watcher_.joinable()) {
            wait_for_all();
            stopped_.store(true, std::memory_order_release);
            wake_watcher(is_closing_);
            watcher_.join();
        }
        if (os::exit_is_overdue() && !is_idle())
            return false; // a stream does not come, and CUDA's calls might wait for it
        bool is_over = true;
        for (std::size_t i = 0; i < all_slots(); ++i)
            if (striped_queue* const each = slot(i).get())
                is_over &= each->stop();
        return is_over;
    }

private:
    using queue_set = queues<striped_queue>;

    [[nodiscard]] std::size_t all_slots() const noexcept {
        return own_.size() + shared_.size() + passing_.size();
    }
    [[nodiscard]] queue_set::slot& slot(std::size_t index) noexcept {
        for (queue_set* const each : {&own_, &shared_}) {
            if (index < each->size())
                return each->at(index);
            index -= each->size();
        }
        return passing_.at(index);
    }
    [[nodiscard]] std::size_t index_of(queue_set::slot const& which) noexcept {
        std::size_t index = 0;
        while (&slot(index) != &which)
            ++index;
        return index;
    }

    std::unique_ptr<striped_queue> open(std::span<std::uint32_t const> engine_types) {
        cuda::relaxed_capture const relaxed;
        cuda::context_scope const scope(session_->context.get());
        return std::make_unique<striped_queue>(*session_, engine_types);
    }

    std::unique_ptr<striped_queue> open_own(std::optional<direction> which) {
        std::uint32_t const engine = own_engine_type(session_->engines, which);
        return open({&engine, 1});
    }

    queue_set::visit choose(direction which, std::size_t pieces, std::size_t bytes,
                            std::optional<CUstream> const& after) {
        queue_set* const others = !after && goes_against(which, pieces, bytes) ? &shared_
                                  : passes_bulk(pieces, bytes)                 ? &passing_
                                                                               : nullptr;
        if (others && others->holds_up_nothing(after, which)) {
            try {
                return others->choose(after, which);
            } catch (std::exception const&) {
                // Without such a queue, the batch goes to own_, as any other.
            }
        }
        return own_.choose(after, which);
    }

    /// Whether a batch takes the engines that CUDA also uses, because the own engine copies in the
    /// other direction: batches in both directions then take half the time. Small pieces and small
    /// batches gain nothing. choose() does not ask this for batches that wait for streams: CUDA's
    /// copies in such streams wait and keep these engines; beside them, stores made 21 GB/s instead
    /// of 49 (vLLM on H100).
    bool goes_against(direction which, std::size_t pieces, std::size_t bytes) noexcept {
        policy::values const& policy = config::current().policy;
        std::size_t const least_piece = session_->shared_engines.size() > 1
                                            ? policy.both_ways_piece
                                            : policy.both_ways_piece_of_one;
        // Among GPUs these engines reach a fifth of the own one's rate (H100).
        if (which == direction::among_gpus || bytes < policy.both_ways_batch || // at least 1
            bytes / pieces < least_piece || session_->shared_engines.empty())
            return false;
        direction const other = which == direction::to_gpu ? direction::to_cpu : direction::to_gpu;
        for (std::size_t i = 0; i < own_.size(); ++i)
            if (striped_queue const* const each = own_.at(i).get(); each && each->is_copying(other))
                return true;
        return false;
    }

    /// Whether a batch is small and would wait for a bulk copy much longer than it takes: then it
    /// takes an engine that CUDA also uses.
    bool passes_bulk(std::size_t pieces, std::size_t bytes) noexcept {
        if (!may_pass(pieces, bytes) || session_->shared_engines.empty())
            return false;
        for (std::size_t i = 0; i < own_.size(); ++i)
            if (striped_queue const* const each = own_.at(i).get(); each && each->is_copying_bulk())
                return true;
        return false;
    }

    /// Streams may rely on the bytes after the caller has dropped the engine.
    void wait_for_all() noexcept {
        constexpr std::chrono::microseconds pause{20};
        // Without drivers, streams do not run.
        while (!is_idle() && cuda::drivers_are_up(owner_))
            std::this_thread::sleep_for(pause);
    }

    void wake_watcher(bool& why) noexcept {
        {
            std::lock_guard const hold(watch_lock_);
            why = true;
        }
        wake_.notify_one();
    }

    /// The watcher's work.
    enum class finding { nothing, batches, pieces_without_room };

    /// Feeds waiting tickets to the rings, and stops a queue in trouble, which fails its batches
    /// and releases its streams.
    void watch() noexcept {
        constexpr std::chrono::milliseconds pause{2};
        constexpr std::chrono::microseconds pause_between_feeds{100};
        constexpr int pauses_before_parking = 500;
        for (int quiet = 0;; ++quiet) {
            bool parks = quiet >= pauses_before_parking;
            is_parked_.exchange(parks);
            finding const found = serve_all();
            if (found != finding::nothing) {
                quiet = 0;
                parks = false;
                is_parked_.store(false);
            }
            auto const is_wanted = [&] { return is_closing_ || is_called_; };
            std::unique_lock hold(watch_lock_);
            if (parks)
                wake_.wait(hold, is_wanted);
            else if (found == finding::pieces_without_room)
                wake_.wait_for(hold, pause_between_feeds, [&] { return is_closing_; });
            else
                wake_.wait_for(hold, pause, is_wanted);
            is_called_ = false;
            if (is_closing_)
                return;
        }
    }

    finding serve_all() noexcept {
        finding result = finding::nothing;
        for (std::size_t i = 0; i < all_slots(); ++i) {
            striped_queue* const queue = slot(i).get();
            if (!queue || queue->is_idle() || queue->is_in_trouble())
                continue;
            result = std::max(result, finding::batches);
            if (queue->has_waiting() && queue->feed())
                result = finding::pieces_without_room;
            queue->watch();
            if (queue->is_in_trouble()) {
                stopped_.store(true, std::memory_order_release);
                (void)queue->stop(); // may take as long as the driver takes
            }
        }
        return result;
    }

    gpu gpu_;
    std::optional<cuda::block_addresses> addresses_;
    os::process_id owner_ = os::this_process();
    std::unique_ptr<cuda_session> session_; // destroyed after its queues
    static constexpr std::size_t own = policy::own_queues, shared = 0,
                                 passing = policy::passing_queues; ///< of each direction
    static_assert(queue_set::count(own) + queue_set::count(shared) + queue_set::count(passing) <=
                  most_queues);
    queue_set own_{[this](std::optional<direction> which) { return open_own(which); }, own};
    queue_set shared_{[this](auto) { return open(session_->shared_engines); }, shared};
    queue_set passing_{[this](auto) { return open(std::span(session_->shared_engines).first(1)); },
                       passing};
    std::atomic<bool> stopped_{false};

    os::thread watcher_;
    std::mutex watch_lock_; ///< guards the next two
    bool is_closing_ = false, is_called_ = false;
    std::condition_variable wake_;
    std::atomic<bool> is_parked_{false};
};

} // namespace

std::unique_ptr<copy_engine> make_channel_cuda(gpu const& which,
                                               std::optional<cuda::block_addresses> addresses) {
    return std::make_unique<cuda_lane>(which, addresses);
}

} // namespace barmap::engine
