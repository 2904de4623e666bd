// SPDX-License-Identifier: MIT
#include "base/region.hpp"
#include "driver/cuda/context_scope.hpp"
#include "driver/cuda/driver_api.hpp"
#include "driver/cuda/driver_lifetime.hpp"
#include "driver/cuda/host_registration.hpp"
#include "transfer/engine/engine.hpp"
#include "transfer/engine/spin.hpp"

#include <barmap/error.hpp>

#include <atomic>
#include <mutex>

/// CUDA's own asynchronous copies, on a stream of our own.
namespace barmap::engine {
namespace {

/// GPU memory, whose address is CUDA's. Nothing keeps it: a copy has to look whether it is still
/// the same.
struct gpu_memory final : reachable {
    struct identity {
        CUdeviceptr address;
        unsigned long long id; ///< CUDA's; no two allocations of a process have the same
    };
    std::vector<identity> chunks;

    [[nodiscard]] bool is_unchanged() const noexcept override {
        for (identity const& each : chunks)
            if (cuda::allocation_id(each.address) != each.id)
                return false;
        return true;
    }
};

/// Pages that CUDA has pinned for us.
struct host_memory final : reachable {
    host_memory(CUdevice device, std::span<std::byte> pages) : registration(device, pages) {
        runs.push_back({0, pages.size(), reinterpret_cast<std::uintptr_t>(pages.data())});
    }
    cuda::host_registration registration;
};

class driver_engine final : public copy_engine {
public:
    explicit driver_engine(gpu const& which) : gpu_(which) {}
    ~driver_engine() override { close(); }

    void start() override {
        constexpr unsigned non_blocking = 1;
        context_ = cuda::primary_context::retain(gpu_.handle);
        cuda::context_scope const scope(context_.get());
        cuda::driver_api const& cu = cuda::api();
        cuda::check(cu.stream_create(&stream_, non_blocking), "make a CUDA stream");
        page_ = os::region::shared_memory(os::page_size());
        registered_ =
            std::make_unique<host_memory>(gpu_.handle, std::span(page_.data(), os::page_size()));
        word_on_gpu_ = registered_->registration.gpu_address();
        // From CUDA 11.7 on; before, a stream's end is all that can be asked for.
        writes_word_ = cu.stream_write_value32(stream_, word_on_gpu_, 0, 0) == cuda::success;
        cuda::watch_exit();
    }

    std::unique_ptr<reachable> reach(cuda::memory const& memory) override {
        auto result = std::make_unique<gpu_memory>();
        std::size_t at = 0;
        for (cuda::chunk const& chunk : memory.chunks) {
            unsigned long long id = 0;
            cuda::check(cuda::api().pointer_get_attribute(&id, cuda::pointer_buffer_id, chunk.base),
                        "identify GPU memory");
            result->chunks.push_back({chunk.base, id});
            // What lies before or behind an allocation is not CUDA's to copy.
            result->runs.push_back({at + chunk.before, chunk.length, chunk.base + chunk.offset});
            at += chunk.extent();
        }
        return result;
    }

    std::unique_ptr<reachable> reach(std::span<std::byte> pages) override {
        return std::make_unique<host_memory>(gpu_.handle, pages);
    }

    std::unique_ptr<reachable> reach_pinned(std::span<std::byte> memory) override {
        auto result = std::make_unique<reachable>();
        result->runs.push_back({0, memory.size(), reinterpret_cast<std::uintptr_t>(memory.data())});
        return result;
    }

    ticket submit(std::span<piece const> pieces) override {
        constexpr char what[] = "submit a copy to the driver";
        cuda::driver_api const& cu = cuda::api();
        std::lock_guard const hold(lock_);
        if (stopped_.load(std::memory_order_relaxed))
            throw error(errc::backend_broken, what, "", "it has stopped: see `barmap info`");
        cuda::context_scope const scope(context_.get());
        for (piece const& each : pieces)
            cuda::check(cu.memcpy_async(each.to, each.from, each.bytes, stream_), what);
        ticket const number = last_.load(std::memory_order_relaxed) + 1;
        if (writes_word_)
            cuda::check(cu.stream_write_value32(stream_, word_on_gpu_,
                                                static_cast<std::uint32_t>(number), 0),
                        what);
        last_.store(number, std::memory_order_release);
        return number;
    }

    bool is_done(ticket number) noexcept override {
        return writes_word_ ? word_says(number) : stream_says(number);
    }

    outcome wait(ticket number, deadline until) noexcept override {
        return spin([&] { return is_done(number); },
                    [&] { return stopped_.load(std::memory_order_acquire); }, until);
    }

    bool close() noexcept override {
        if (!os::is_this_process(owner_))
            return false; // another thread of the parent may have held the lock at the fork
        CUstream stream = nullptr;
        {
            std::lock_guard const hold(lock_);
            stopped_.store(true, std::memory_order_release);
            stream = std::exchange(stream_, nullptr);
        }
        if (!stream)
            return true;
        if (!cuda::drivers_are_up(owner_))
            return false;
        try {
            cuda::context_scope const scope(context_.get());
            bool const is_idle = cuda::api().stream_synchronize(stream) == cuda::success;
            cuda::api().stream_destroy(stream);
            return is_idle;
        } catch (error const&) {
            return true; // the context is gone, and the stream with it
        }
    }

private:
    [[nodiscard]] bool word_says(ticket number) const noexcept {
        ticket const last = last_.load(std::memory_order_acquire);
        std::uint32_t const done = std::atomic_ref(*reinterpret_cast<std::uint32_t*>(page_.data()))
                                       .load(std::memory_order_acquire);
        auto const ahead = static_cast<std::int32_t>(done - static_cast<std::uint32_t>(last));
        return last + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead)) >= number;
    }

    [[nodiscard]] bool stream_says(ticket number) noexcept {
        if (number <= known_done_.load(std::memory_order_acquire))
            return true;
        ticket const last = last_.load(std::memory_order_acquire);
        try {
            std::lock_guard const hold(lock_); // the stream may be closed
            cuda::context_scope const scope(context_.get());
            if (!stream_ || cuda::api().stream_query(stream_) != cuda::success)
                return false;
        } catch (error const&) {
            return false;
        }
        known_done_.store(last, std::memory_order_release);
        return number <= last;
    }

    gpu gpu_;
    os::process_id owner_ = os::this_process();
    cuda::primary_context context_;
    os::region page_; ///< in its first word, the last ticket that is done
    std::unique_ptr<host_memory> registered_;
    CUdeviceptr word_on_gpu_ = 0;
    std::mutex lock_;
    CUstream stream_ = nullptr;
    bool writes_word_ = false;
    std::atomic<ticket> last_{0};       ///< that was submitted
    std::atomic<ticket> known_done_{0}; ///< at least; where the stream is asked
    std::atomic<bool> stopped_{false};
};

} // namespace

std::unique_ptr<copy_engine> make_driver(gpu const& which) {
    return std::make_unique<driver_engine>(which);
}

} // namespace barmap::engine
