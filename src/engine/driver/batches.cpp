// SPDX-License-Identifier: MIT
#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"
#include "engine/batch.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

/// Batches by CUDA's own copies: its batch call, or where that is missing or slower a copy for each
/// piece. No kernel of our own, which would take multiprocessors from the program's.
namespace barmap::engine {
namespace {

/// Marks a place in a stream.
class event {
public:
    event() {
        constexpr unsigned disable_timing = 2;
        cuda::check(cuda::api().event_create(&handle_, disable_timing), "make a CUDA event");
    }
    event(event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    event& operator=(event&&) = delete;
    ~event() {
        if (handle_)
            cuda::api().event_destroy(handle_);
    }
    [[nodiscard]] CUevent get() const noexcept { return handle_; }

private:
    CUevent handle_ = nullptr;
};

class driver_batches final : public batch_engine {
public:
    explicit driver_batches(gpu const& which) : gpu_(which) {}
    ~driver_batches() override { close(); }

    void start(batch_test_memory const& memory) override {
        context_ = cuda::primary_context::retain(gpu_.handle);
        cuda::context_scope const scope(context_.get());
        cuda::watch_exit();
        for (CUstream& each : streams_) {
            constexpr unsigned non_blocking = 1;
            cuda::check(cuda::api().stream_create(&each, non_blocking), "make a CUDA stream");
        }
        for (std::size_t i = 0; i < most_under_way; ++i)
            ends_.emplace_back();
        placed_ = std::make_unique<event>();
        choose_form(memory);
    }

    [[nodiscard]] std::string_view form() const noexcept override {
        return by_batch_call_ ? "by CUDA's batch call" : "by a call of CUDA for each piece";
    }

    ticket submit(direction which, std::span<piece const> pieces, std::size_t /*bytes*/,
                  stream_order const& order) override {
        std::lock_guard const hold(lock_);
        if (has_stopped())
            throw engine::has_stopped("it has stopped: see `barmap info`");
        cuda::context_scope const scope = cuda::context_scope::on_device(gpu_.handle);
        expect_usable(order);
        ticket const number = last_ + 1;
        free_end(number);
        CUstream const stream = begin(order);
        try {
            copy(which, pieces, stream);
            // Before the event is another's.
            ended_.store(std::max(number, most_under_way) - most_under_way,
                         std::memory_order_release);
            CUevent const end = ends_[number % most_under_way].get();
            check_stream(cuda::api().event_record(end, stream));
            if (order.then && *order.then != stream)
                check_stream(cuda::api().stream_wait_event(*order.then, end, 0));
        } catch (...) {
            cuda::api().stream_synchronize(stream); // so that nothing of it is under way
            throw;
        }
        return last_ = number;
    }

    // Without the lock, which is kept by who waits for room.
    [[nodiscard]] state look(ticket number) noexcept override {
        try {
            auto const has_ended = [&] { return number <= ended_.load(std::memory_order_acquire); };
            if (has_ended())
                return state::done;
            if (!cuda::drivers_are_up(owner_))
                return state::failed;
            cuda::context_scope const scope(context_.get());
            CUresult const now = cuda::api().event_query(ends_[number % most_under_way].get());
            if (has_ended())
                return state::done; // its event marks a later one by now
            switch (now) {
            case cuda::success:
                return state::done;
            case cuda::error_not_ready:
                return state::under_way;
            default: // an earlier piece of work has broken the context
                stopped_.store(true, std::memory_order_release);
                return state::failed;
            }
        } catch (std::exception const&) {
            return state::failed; // the context is gone
        }
    }

    [[nodiscard]] bool has_stopped() const noexcept override {
        return stopped_.load(std::memory_order_acquire);
    }

    [[nodiscard]] std::string why_it_stopped() const override {
        return "CUDA reported an error of earlier work";
    }

    bool close() noexcept override {
        if (!os::is_this_process(owner_))
            return false; // another thread of the parent may have held the lock at the fork
        stopped_.store(true, std::memory_order_release);
        std::lock_guard const hold(lock_);
        if (std::exchange(is_closed_, true) || !context_.get())
            return true;
        if (!cuda::drivers_are_up(owner_)) {
            abandon();
            return false;
        }
        try {
            cuda::context_scope const scope(context_.get());
            bool is_idle = true;
            for (event const& end : ends_)
                is_idle &= cuda::api().event_synchronize(end.get()) == cuda::success;
            for (CUstream const each : streams_)
                if (each)
                    cuda::api().stream_destroy(each);
            ends_.clear();
            placed_.reset();
            return is_idle;
        } catch (error const&) {
            abandon(); // the context is gone, and all of it
            return true;
        }
    }

private:
    static constexpr ticket most_under_way = 256;

    void abandon() noexcept {
        for (event& each : ends_)
            (void)new event(std::move(each));
        (void)placed_.release();
        ends_.clear();
    }

    /// The place of an earlier batch is taken when that is done.
    void free_end(ticket number) {
        if (number > most_under_way)
            cuda::check(cuda::api().event_synchronize(ends_[number % most_under_way].get()),
                        "wait for an earlier batch");
    }

    /// The stream to copy on, in order behind what the batch is to come after.
    CUstream begin(stream_order const& order) {
        // The default streams are not taken by the batch call.
        constexpr std::uintptr_t per_thread_default = 2;
        if (order.after && order.then && *order.after == *order.then &&
            reinterpret_cast<std::uintptr_t>(*order.after) > per_thread_default)
            return *order.after;
        if (!order.after)
            return streams_[0];
        CUstream const stream = streams_[1 + next_ordered_++ % (streams_.size() - 1)];
        check_stream(cuda::api().event_record(placed_->get(), *order.after));
        check_stream(cuda::api().stream_wait_event(stream, placed_->get(), 0));
        return stream;
    }

    /// CUDA copies ordinary memory as well, by reading it before it returns, and an address of
    /// none ends the process.
    static void expect_reachable(std::uint64_t address) {
        unsigned type = 0; // stays 0 for what CUDA does not know
        int attribute = cuda::pointer_memory_type;
        void* const to = &type;
        CUresult const result =
            cuda::api().pointer_get_attributes(1, &attribute, const_cast<void**>(&to), address);
        if (result != cuda::success || type == 0)
            throw error(errc::unsupported_memory, "copy a batch", "",
                        "each piece has to lie in memory of this GPU, and in host memory that CUDA "
                        "has allocated or registered (cudaMallocHost, cudaHostRegister)");
    }

    void copy(direction which, std::span<piece const> pieces, CUstream stream) {
        for (piece const& each : pieces) {
            expect_reachable(each.gpu);
            expect_reachable(each.host);
        }
        if (by_batch_call_ && pieces.size() > 1)
            copy_by_batch_call(which, pieces, stream);
        else
            copy_one_by_one(which, pieces, stream);
    }

    static void check_copy(CUresult result) { cuda::check(result, "copy a batch"); }

    void copy_one_by_one(direction which, std::span<piece const> pieces, CUstream stream) const {
        for (piece const& each : pieces) {
            auto const [to, from] = which == direction::to_gpu ? std::pair(each.gpu, each.host)
                                                               : std::pair(each.host, each.gpu);
            check_copy(cuda::api().memcpy_async(to, from, each.bytes, stream));
        }
    }

    void copy_by_batch_call(direction which, std::span<piece const> pieces, CUstream stream) {
        to_.clear();
        from_.clear();
        bytes_.clear();
        for (piece const& each : pieces) {
            to_.push_back(which == direction::to_gpu ? each.gpu : each.host);
            from_.push_back(which == direction::to_gpu ? each.host : each.gpu);
            bytes_.push_back(each.bytes);
        }
        CUmemcpyAttributes how{};
        how.srcAccessOrder = cuda::source_order_stream;
        std::size_t first = 0, failed = 0;
        check_copy(cuda::api().memcpy_batch_async(to_.data(), from_.data(), bytes_.data(),
                                                  pieces.size(), &how, &first, 1, &failed, stream));
    }

    /// Takes the faster of both forms, for the pieces that batches are made for.
    void choose_form(batch_test_memory const& memory) {
        constexpr std::size_t count = 64, size = batch_test_memory::size / count;
        std::vector<piece> pieces;
        for (std::size_t i = 0; i < count; ++i)
            pieces.push_back({memory.gpu() + i * size, memory.host() + i * size, size});
        using clock = std::chrono::steady_clock;
        auto const time = [&](auto copy) {
            auto best = clock::duration::max();
            for (int i = 0; i < 3; ++i) {
                clock::time_point const begin = clock::now();
                copy();
                cuda::check(cuda::api().stream_synchronize(streams_[0]), "measure a batch");
                best = std::min(best, clock::now() - begin);
            }
            return best;
        };
        auto const each = time([&] { copy_one_by_one(direction::to_cpu, pieces, streams_[0]); });
        try {
            by_batch_call_ =
                time([&] { copy_by_batch_call(direction::to_cpu, pieces, streams_[0]); }) < each;
        } catch (error const&) {
            by_batch_call_ = false; // a driver before CUDA 12.8
        }
    }

    gpu gpu_;
    os::process_id owner_ = os::this_process();
    cuda::primary_context context_;
    std::mutex lock_;                   ///< of submissions
    std::array<CUstream, 5> streams_{}; ///< the first for batches that wait for nothing
    std::size_t next_ordered_ = 0;
    std::vector<event> ends_; ///< of the batch of this number, modulo their count
    std::unique_ptr<event> placed_;
    std::vector<CUdeviceptr> to_, from_;
    std::vector<std::size_t> bytes_;
    bool by_batch_call_ = false, is_closed_ = false;
    ticket last_ = 0;
    std::atomic<ticket> ended_{0}; ///< of those whose events mark later ones, the last
    std::atomic<bool> stopped_{false};
};

} // namespace

std::unique_ptr<batch_engine> make_driver_batches(gpu const& which) {
    return std::make_unique<driver_batches>(which);
}

} // namespace barmap::engine
