// SPDX-License-Identifier: MIT
#include "driver/cuda/context_scope.hpp"
#include "driver/cuda/driver_api.hpp"
#include "driver/cuda/driver_lifetime.hpp"
#include "transfer/engine/batch.hpp"
#include "transfer/engine/queues.hpp"
#include "transfer/engine/spin.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

/// Batches by CUDA's own copies: its batch call, or where that is missing or slower a copy for each
/// piece. No kernel of our own, which would take multiprocessors from the program's.
namespace barmap::engine {
namespace {

/// Marks a place in a stream.
class stream_event {
public:
    stream_event() = default;
    stream_event(stream_event const&) = delete;
    stream_event& operator=(stream_event const&) = delete;
    ~stream_event() {
        if (handle_)
            cuda::api().event_destroy(handle_);
    }
    void make() {
        constexpr unsigned disable_timing = 2;
        if (!handle_)
            cuda::check(cuda::api().event_create(&handle_, disable_timing), "make a CUDA event");
    }
    [[nodiscard]] CUevent get() const noexcept { return handle_; } ///< null before make()

private:
    CUevent handle_ = nullptr;
};

/// A stream of ours, and the events that mark the ends of its batches.
/// Thread rule: poll() and is_idle() at any time; submit() by one caller at a time.
class driver_queue {
public:
    static constexpr ticket most_in_flight = 256;

    /// @pre its context is current
    explicit driver_queue(CUcontext context) : context_(context) {
        constexpr unsigned non_blocking = 1;
        cuda::check(cuda::api().stream_create(&stream_, non_blocking), "make a CUDA stream");
    }
    driver_queue(driver_queue const&) = delete;
    driver_queue& operator=(driver_queue const&) = delete;
    ~driver_queue() {
        if (stream_)
            cuda::api().stream_destroy(stream_);
    }

    [[nodiscard]] CUstream stream() const noexcept { return stream_; }

    /// Where a submission has failed half-way, `left_on` is the stream that its copies are on.
    ticket submit(std::span<piece const> pieces, stream_order const& order, bool by_batch_call,
                  std::optional<CUstream>& left_on) {
        ticket const number = last_.load(std::memory_order_relaxed) + 1;
        stream_event& end = ends_[number % most_in_flight];
        cuda::relaxed_capture const relaxed; // of another thread, which this does not end
        if (number > most_in_flight) // its place is free when that one is done
            cuda::check(cuda::api().event_synchronize(end.get()), "wait for an earlier batch");
        {
            cuda::context_scope const scope(context_); // of the stream, whatever the caller's is
            end.make();
            placed_.make();
        }
        CUstream const stream = begin(order);
        copy(pieces, by_batch_call, stream, left_on);
        left_on = stream;
        // Before the event is another's.
        ended_.store(std::max(number, most_in_flight) - most_in_flight, std::memory_order_release);
        check_stream(cuda::api().event_record(end.get(), stream));
        last_.store(number, std::memory_order_release);
        if (order.then && *order.then != stream)
            check_stream(cuda::api().stream_wait_event(*order.then, end.get(), 0));
        left_on.reset();
        return number;
    }

    /// @param begun_on set to the stream once a copy has been ordered
    void copy(std::span<piece const> pieces, bool by_batch_call, CUstream stream,
              std::optional<CUstream>& begun_on) {
        if (by_batch_call && pieces.size() > 1)
            copy_by_batch_call(pieces, stream);
        else
            copy_one_by_one(pieces, stream, begun_on);
    }

    /// @param result what CUDA said, where it was asked
    [[nodiscard]] batch_engine::state poll(ticket number, CUresult& result) const {
        using enum batch_engine::state;
        if (number == 0 || number > last_.load(std::memory_order_acquire))
            return never_given;
        auto const has_ended = [&] { return number <= ended_.load(std::memory_order_acquire); };
        if (has_ended())
            return done;
        cuda::context_scope const scope(context_);
        cuda::relaxed_capture const relaxed; // of another thread, which a query would end
        result = cuda::api().event_query(ends_[number % most_in_flight].get());
        if (has_ended())
            return done; // its event marks a later one by now
        return result == cuda::success ? done : result == cuda::error_not_ready ? in_flight : failed;
    }

    /// Thread rule: one caller at a time, since batches on the program's own streams end out of order.
    [[nodiscard]] bool is_idle() {
        CUresult result = cuda::success;
        ticket const last = last_.load(std::memory_order_acquire);
        while (known_to_be_done_ < last &&
               poll(known_to_be_done_ + 1, result) == batch_engine::state::done)
            ++known_to_be_done_;
        return known_to_be_done_ == last;
    }

    /// @return whether all batches have ended
    [[nodiscard]] bool wait_for_all() const noexcept {
        bool is_idle = true;
        for (stream_event const& each : ends_)
            is_idle &= !each.get() || cuda::api().event_synchronize(each.get()) == cuda::success;
        return is_idle;
    }

private:
    /// The stream to copy on, in order behind what the batch comes after.
    CUstream begin(stream_order const& order) {
        // The default streams are not taken by the batch call.
        constexpr std::uintptr_t per_thread_default = 2;
        if (order.after && order.then && *order.after == *order.then &&
            reinterpret_cast<std::uintptr_t>(*order.after) > per_thread_default)
            return *order.after;
        if (order.after) {
            check_stream(cuda::api().event_record(placed_.get(), *order.after));
            check_stream(cuda::api().stream_wait_event(stream_, placed_.get(), 0));
        }
        return stream_;
    }

    static void check_copy(CUresult result) {
        if (result == cuda::error_invalid_value) // its pieces are in memory, or were a moment ago
            throw error(errc::unsupported_memory, "copy a batch", "",
                        "CUDA refuses a piece: keep both sides allocated until the batch is done");
        cuda::check(result, "copy a batch");
    }

    static void copy_one_by_one(std::span<piece const> pieces, CUstream stream,
                                std::optional<CUstream>& begun_on) {
        for (piece const& each : pieces) {
            check_copy(cuda::api().memcpy_async(each.to, each.from, each.bytes, stream));
            begun_on = stream;
        }
    }

    void copy_by_batch_call(std::span<piece const> pieces, CUstream stream) {
        to_.clear();
        from_.clear();
        bytes_.clear();
        for (piece const& each : pieces) {
            to_.push_back(each.to);
            from_.push_back(each.from);
            bytes_.push_back(each.bytes);
        }
        CUmemcpyAttributes how{};
        how.srcAccessOrder = cuda::source_order_stream;
        std::size_t first = 0, failed = 0;
        check_copy(cuda::api().memcpy_batch_async(to_.data(), from_.data(), bytes_.data(),
                                                  pieces.size(), &how, &first, 1, &failed, stream));
    }

    CUcontext context_;
    CUstream stream_ = nullptr;
    std::array<stream_event, most_in_flight> ends_; ///< of the batch of this number, modulo their count
    stream_event placed_;
    std::vector<CUdeviceptr> to_, from_;
    std::vector<std::size_t> bytes_;
    std::atomic<ticket> last_{0};
    std::atomic<ticket> ended_{0}; ///< of those whose events mark later ones, the last
    ticket known_to_be_done_ = 0;  ///< and all before it
};

class driver_batches final : public batch_engine {
public:
    explicit driver_batches(gpu const& which) : gpu_(which) {}
    ~driver_batches() override { close(); }

    void start(batch_test_memory const& memory) override {
        context_ = cuda::primary_context::retain(gpu_.handle);
        cuda::context_scope const scope(context_.get());
        cuda::watch_exit();
        choose_form(*queues_->choose({}, direction::to_cpu)->queue, memory);
    }

    [[nodiscard]] std::string_view form() const noexcept override {
        return by_batch_call_ ? "by CUDA's batch call" : "by a call of CUDA for each piece";
    }

    /// CUDA copies ordinary memory as well, by reading it before it returns, and an address of
    /// none ends the process.
    [[nodiscard]] bool needs_known_memory() const noexcept override { return true; }

    ticket submit(direction which, std::span<piece const> pieces, std::size_t /*bytes*/,
                  stream_order const& order) override {
        if (has_stopped())
            throw engine::has_stopped("it has stopped: see `barmap info`");
        cuda::context_scope const scope = cuda::context_scope::on_device(gpu_.handle);
        expect_usable(order);
        queue_set::visit const to = queues_->choose(order.after, which);
        std::optional<CUstream> left_on;
        try {
            std::lock_guard const hold(to->busy);
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
            if (now == state::failed) // an earlier piece of work has broken the context
                stopped_.store(true, std::memory_order_release);
            return now;
        } catch (std::exception const&) {
            return state::failed; // the context is gone
        }
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
        if (!cuda::drivers_are_up(owner_)) {
            (void)queues_.release();
            return false;
        }
        try {
            cuda::context_scope const scope(context_.get());
            bool is_idle = true;
            for (std::size_t i = 0; i < queues_->size(); ++i) {
                queue_set::slot& each = queues_->at(i);
                std::lock_guard const hold(each.busy); // no submission is half made
                if (driver_queue const* const queue = each.get())
                    is_idle &= queue->wait_for_all();
            }
            queues_.reset();
            return is_idle;
        } catch (error const&) {
            (void)queues_.release(); // the context is gone, and all of it
            return true;
        }
    }

private:
    using queue_set = queues<driver_queue>;
    static constexpr unsigned ticket_bits = number_bits - 4; ///< above them, the queue

    /// After a submission that failed half-way: so that nothing of it is in flight.
    static void expect_end(CUstream stream) {
        constexpr std::chrono::seconds most{10};
        if (spin([&] { return cuda::api().stream_query(stream) != cuda::error_not_ready; },
                 [] { return false; }, std::chrono::steady_clock::now() + most) != outcome::done)
            throw error(errc::copy_unfinished, "end a batch that CUDA took only a part of", "",
                        "pieces may still be copied: keep their memory until the stream that the batch "
                        "comes after is idle");
    }

    /// Takes the faster of both forms, for the pieces that batches are made for.
    void choose_form(driver_queue& queue, batch_test_memory const& memory) {
        constexpr std::size_t count = 64, size = batch_test_memory::size / count;
        std::vector<piece> pieces;
        for (std::size_t i = 0; i < count; ++i)
            pieces.push_back({memory.host() + i * size, memory.gpu() + i * size, size});
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
            by_batch_call_ = false; // a driver before CUDA 12.8
        }
    }

    gpu gpu_;
    os::process_id owner_ = os::this_process();
    cuda::primary_context context_;
    std::unique_ptr<queue_set> queues_ = std::make_unique<queue_set>(
        [this] {
            cuda::relaxed_capture const relaxed;
            cuda::context_scope const scope(context_.get());
            return std::make_unique<driver_queue>(context_.get());
        },
        3);
    bool by_batch_call_ = false;
    std::atomic<bool> stopped_{false};
};

} // namespace

std::unique_ptr<batch_engine> make_driver_batches(gpu const& which) {
    return std::make_unique<driver_batches>(which);
}

} // namespace barmap::engine
