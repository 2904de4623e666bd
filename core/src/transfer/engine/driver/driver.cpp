// SPDX-License-Identifier: MIT
#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"
#include "transfer/engine/cuda_addresses.hpp"
#include "transfer/engine/driver/driver_queue.hpp"
#include "transfer/engine/queues.hpp"
#include "transfer/engine/spin.hpp"

#include "base/leave_to_exit.hpp"
#include "base/policy.hpp"
#include <barmap/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

/// CUDA's own asynchronous copies, on barmap's streams: its batch call or, if that is missing or
/// slower, a copy for each piece. A kernel instead would take multiprocessors from the program's.
namespace barmap::engine {
namespace {

class driver_engine final : public copy_engine {
public:
    driver_engine(gpu const& of, lane which) : gpu_(of), lane_(which) {}
    ~driver_engine() override {
        close();
        try {
            if (queues_ && cuda::drivers_are_up(owner_)) { // otherwise CUDA may be unloaded
                cuda::context_scope const scope(context_.get());
                queues_.reset();
            }
        } catch (error const&) {
            // The context and all its objects are gone.
        }
        if (queues_)
            leave_to_exit(std::move(queues_));
    }

    void start() override {
        if (gpu_.without_cuda)
            throw error(errc::backend_absent, "copy by CUDA in a process that has not started it",
                        "", "BARMAP_ENGINE=channel needs no CUDA");
        context_ = cuda::primary_context::retain(gpu_.handle);
        queues_ = std::make_unique<queue_set>([this](auto) { return open(); }, 3);
        (void)queues_->choose({}, direction::to_cpu);
        cuda::watch_exit();
    }

    std::unique_ptr<reachable> reach(cuda::memory const& memory) override {
        return reach_by_cuda(memory);
    }
    std::unique_ptr<reachable> hold(cuda::memory const& memory) override {
        return hold_by_cuda(gpu_.handle, memory);
    }
    std::unique_ptr<reachable> reach(std::span<std::byte> pages) override {
        return reach_by_cuda(gpu_.handle, pages);
    }
    std::unique_ptr<reachable> reach_pinned(std::span<std::byte> memory) override {
        return reach_pinned_by_cuda(memory);
    }

    /// Selects the faster method for a typical batch.
    void measure(reachable const& gpu, reachable const& host) override {
        if (lane_ == lane::held)
            return; // that lane copies few pieces at once
        constexpr std::size_t count = policy::tried_batch, size = 4096;
        std::vector<copy_piece> pieces;
        for (std::size_t i = 0; i < count; ++i)
            pieces.push_back({gpu.runs.front().address + i * size,
                              host.runs.front().address + i * size % host.runs.front().bytes,
                              size}); // pieces may share a source
        driver_queue& queue = *queues_->at(0).queue;
        cuda::context_scope const scope(context_.get());
        using clock = std::chrono::steady_clock;
        std::optional<CUstream> begun_on;
        auto const time = [&](bool by_batch_call) {
            auto best = clock::duration::max();
            for (int i = 0; i < 3; ++i) {
                clock::time_point const begin = clock::now();
                queue.copy(pieces, by_batch_call, queue.stream(), begun_on);
                cuda::check(cuda::api().stream_synchronize(queue.stream()), "measure a batch");
                best = std::min(best, clock::now() - begin);
            }
            return best;
        };
        auto const each = time(false);
        try {
            by_batch_call_ = time(true) < each;
        } catch (error const&) {
            by_batch_call_ = false; // the driver is older than CUDA 12.8
        }
    }

    void open_queues() override {
        if (queues_)
            queues_->open_all();
    }

    [[nodiscard]] std::string_view form() const noexcept override {
        return by_batch_call_ ? "by CUDA's batch call" : "by one CUDA call for each piece";
    }

    /// CUDA also accepts pageable memory and reads it before the call returns, so an unmapped
    /// address ends the process.
    [[nodiscard]] bool needs_known_memory() const noexcept override { return true; }

    ticket submit(direction way, std::span<copy_piece const> pieces, std::size_t /*bytes*/,
                  stream_order const& order) override {
        // A stream may belong to another context than the queues.
        cuda::context_scope const scope = lane_ == lane::held
                                              ? cuda::context_scope(context_.get())
                                              : cuda::context_scope::on_device(gpu_.handle);
        expect_usable(order, gpu_.handle);
        queue_set::visit const to = queues_->choose(order.after, way);
        std::optional<CUstream> left_on;
        try {
            std::lock_guard const hold(to->busy);
            if (has_stopped())
                throw engine::has_stopped("it has stopped: see `barmap info`");
            ticket const number = to->queue->submit(pieces, order, by_batch_call_, left_on);
            return number | static_cast<ticket>(&*to - &queues_->at(0)) << ticket_bits;
        } catch (...) {
            if (left_on)
                expect_end(*left_on);
            throw;
        }
    }

    [[nodiscard]] state poll(ticket number) noexcept override {
        try {
            std::size_t const index = number >> ticket_bits;
            driver_queue const* const of =
                index < queues_->size() ? queues_->at(index).get() : nullptr;
            if (!of)
                return state::never_given;
            if (!cuda::drivers_are_up(owner_))
                return state::failed;
            CUresult result = cuda::success;
            state const now = of->poll(number & ((ticket{1} << ticket_bits) - 1), result);
            if (now == state::failed) // earlier work has broken the context
                stopped_.store(true, std::memory_order_release);
            return now;
        } catch (std::exception const&) {
            return state::failed; // the context is gone
        }
    }

    [[nodiscard]] bool is_idle() noexcept override {
        try {
            cuda::context_scope const scope(context_.get());
            for (std::size_t i = 0; i < queues_->size(); ++i)
                if (driver_queue const* const each = queues_->at(i).get(); each && each->has_work())
                    return false;
        } catch (error const&) {
            // The context and all its work are gone.
        }
        return true;
    }

    [[nodiscard]] bool has_stopped() const noexcept override {
        return stopped_.load(std::memory_order_acquire);
    }

    [[nodiscard]] std::string why_it_stopped() override {
        return "CUDA reported an error of earlier work";
    }

    bool close() noexcept override {
        if (!os::is_this_process(owner_))
            return false; // another thread of the parent may have held a lock at the fork
        stopped_.store(true, std::memory_order_release);
        if (!queues_ || !context_.get())
            return true;
        if (!cuda::drivers_are_up(owner_))
            return false;
        try {
            cuda::context_scope const scope(context_.get());
            bool is_idle = true;
            for (std::size_t i = 0; i < queues_->size(); ++i) {
                queue_set::slot& each = queues_->at(i);
                std::lock_guard const hold(each.busy); // no submission is half made
                if (driver_queue const* const queue = each.get())
                    is_idle &= queue->wait_for_all();
            }
            return is_idle;
        } catch (error const&) {
            return true; // the context and all its work are gone
        }
    }

private:
    using queue_set = queues<driver_queue>;

    std::unique_ptr<driver_queue> open() {
        cuda::relaxed_capture const relaxed;
        cuda::context_scope const scope(context_.get());
        return std::make_unique<driver_queue>(gpu_.handle, context_.get(), lane_);
    }

    /// Waits for the copies of a submission that failed half-way.
    static void expect_end(CUstream stream) {
        constexpr std::chrono::seconds most{10};
        if (spin([&] { return cuda::api().stream_query(stream) != cuda::error_not_ready; },
                 [] { return false; },
                 std::chrono::steady_clock::now() + most) != copy_outcome::done)
            throw error(
                errc::copy_unfinished, "end a batch that CUDA accepted only in part", "",
                "CUDA may still be copying pieces: keep their memory until the stream that the "
                "batch comes after is idle");
    }

    gpu gpu_;
    lane lane_;
    os::process_id owner_ = os::this_process();
    cuda::primary_context context_;
    std::unique_ptr<queue_set> queues_;
    bool by_batch_call_ = false;
    std::atomic<bool> stopped_{false};
};

} // namespace

std::unique_ptr<copy_engine> make_driver(gpu const& of, lane which) {
    return std::make_unique<driver_engine>(of, which);
}

} // namespace barmap::engine
