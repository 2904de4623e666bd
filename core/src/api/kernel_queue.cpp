// SPDX-License-Identifier: MIT
#include "api/handles.hpp"
#include "base/c_options.hpp"
#include "cuda/context_scope.hpp"
#include "cuda/own_kernel.hpp"
#include "transfer/engine/channel/kernel_channel.hpp"
#include "transfer/engine/channel/queue_kernels.ptx.hpp"

#include <barmap/error.hpp>
#include <barmap/gpu/list_in_memory.cuh>
#include <barmap/kernel_queue.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace barmap {

/// A queue that kernels feed.
/// Thread rule: threads may call every member concurrently.
class kernel_queue_state final : public checkpoint::survivor {
public:
    kernel_queue_state(std::shared_ptr<device_state> of, engine::kernel_channel::form how)
        : device_(std::move(of)), form_(how) {
        restart();
    }
    kernel_queue_state(kernel_queue_state const&) = delete;
    kernel_queue_state& operator=(kernel_queue_state const&) = delete;
    ~kernel_queue_state() { survives_.leave(); }

    void restart() {
        std::lock_guard const hold(lock_);
        channel_.reset();
        make();
    }

    /// What kernels, or threads that act as kernels, get. @throws error if the channel has stopped
    [[nodiscard]] gpu::kernel_queue get(bool for_thread) {
        std::lock_guard const hold(lock_);
        expect_channel();
        if (auto const why = channel_->failure())
            throw error(errc::backend_broken, "let kernels submit copies", "",
                        *why + "; restart the queue when no kernel uses it");
        return for_thread ? channel_->queue_for_thread() : channel_->queue();
    }

    [[nodiscard]] bool is_rung_by_cpu() {
        std::lock_guard const hold(lock_);
        expect_channel();
        return channel_->is_rung_by_cpu();
    }

    void enqueue(gpu::copy_piece const* pieces, gpu::word const* count, std::size_t most,
                 std::uint64_t at_most_ns, void* stream) {
        gpu::kernel_queue_task task{get(false), pieces, count, most, at_most_ns};
        void* arguments[] = {&task};
        constexpr unsigned warp = 32;
        kernel().launch(warp, arguments, stream, "enqueue a list of copies");
    }

    /// What has gone wrong, if anything has.
    [[nodiscard]] std::optional<std::string> failure() {
        std::lock_guard const hold(lock_);
        if (!channel_)
            return std::nullopt;
        if (auto why = channel_->failure())
            return *why + "; restart the queue when no kernel uses it";
        auto const refusal = channel_->take_refusal();
        return refusal ? std::optional<std::string>(text_of(*refusal)) : std::nullopt;
    }

    [[nodiscard]] bool is_busy() override {
        std::lock_guard const hold(lock_);
        return channel_ && !channel_->failure() && channel_->is_busy();
    }
    void release() override {
        std::lock_guard const hold(lock_);
        channel_.reset();
    }
    void restore() override {} // the next get() makes it

    [[nodiscard]] device_state& device() const noexcept { return *device_; }

private:
    void make() { channel_ = std::make_unique<engine::kernel_channel>(device_->gpu, form_); }
    void expect_channel() {
        if (!channel_) // since a checkpoint, or a restart that failed
            make();
    }

    cuda::own_kernel const& kernel() {
        std::lock_guard const hold(lock_);
        if (!kernel_) {
            cuda::relaxed_capture const relaxed; // the first list may be captured
            cuda::context_scope const scope(context_.get());
            kernel_.emplace(ptx::queue_kernels, "barmap_queue_submit");
        }
        return *kernel_;
    }

    /// What a list's failure is called, and what to do.
    static char const* text_of(gpu::status failure) {
        switch (failure) {
        case gpu::status::invalid:
            return "an enqueued list is longer than its room: nothing was copied";
        case gpu::status::invalid_piece:
            return "a piece of an enqueued list is longer than 1 GiB: the others were copied";
        case gpu::status::busy:
            return "an enqueued list waited too long for the queue: give it more time, or another "
                   "queue; if a kernel has ended without giving the queue back, restart it";
        default:
            return "an enqueued list was not copied in its time: give it more; its pieces may "
                   "still be copied, so free nothing of it before a restart";
        }
    }

    std::shared_ptr<device_state> const device_;
    engine::kernel_channel::form const form_;
    cuda::primary_context const context_ = cuda::primary_context::retain(device_->gpu.handle);
    std::mutex lock_;
    std::unique_ptr<engine::kernel_channel> channel_; ///< under the lock
    std::optional<cuda::own_kernel> kernel_;          ///< set by the first enqueue()
    checkpoint::membership survives_{*this};
};

} // namespace barmap

struct barmap_kernel_queue {
    barmap_kernel_queue(std::shared_ptr<barmap::device_state> of,
                        barmap::engine::kernel_channel::form how)
        : state(std::move(of), how) {}
    barmap::kernel_queue_state state;
};

using namespace barmap;
using c::attempt;
using c::expect;

namespace {

kernel_queue_state& state_of(barmap_kernel_queue* queue, char const* operation) {
    return expect(queue, operation, "create a queue for kernels first").state;
}

int get(barmap_kernel_queue* queue, barmap_kernel_queue_handle* handle, bool for_thread) {
    static constexpr char operation[] = "get a queue for kernels";
    return attempt([&] {
        static_assert(sizeof(barmap_kernel_queue_handle) == sizeof(gpu::kernel_queue) &&
                      sizeof(barmap_copy_piece) == sizeof(gpu::copy_piece) &&
                      offsetof(barmap_copy_piece, to) == offsetof(gpu::copy_piece, to) &&
                      offsetof(barmap_copy_piece, from) == offsetof(gpu::copy_piece, from) &&
                      offsetof(barmap_copy_piece, bytes) == offsetof(gpu::copy_piece, bytes));
        barmap_kernel_queue_handle& to =
            expect(handle, operation, "pass a pointer for the handle, not NULL");
        kernel_queue_state& state = state_of(queue, operation);
        checkpoint::pass const here = state.device().enter(operation, device_state::look::always);
        gpu::kernel_queue const found = state.get(for_thread);
        std::memcpy(&to, &found, sizeof to);
    });
}

} // namespace

int barmap_kernel_queue_create(barmap_device* device, barmap_kernel_queue_options const* or_null,
                               barmap_kernel_queue** out) {
    static constexpr char operation[] = "make a queue for kernels";
    return c::make(out, operation, [&] {
        barmap_kernel_queue_options const options =
            c::known(or_null, BARMAP_KERNEL_QUEUE_SHARED | BARMAP_KERNEL_QUEUE_OR_RUNG_BY_CPU,
                     "use the options of a queue for kernels",
                     "set their size to sizeof(barmap_kernel_queue_options)");
        auto const& of = barmap::state_of(device, operation);
        checkpoint::pass const here = of->enter(operation, device_state::look::always);
        return std::make_unique<barmap_kernel_queue>(
            of, engine::kernel_channel::form{
                    .is_shared = (options.flags & BARMAP_KERNEL_QUEUE_SHARED) != 0,
                    .or_rung_by_cpu = (options.flags & BARMAP_KERNEL_QUEUE_OR_RUNG_BY_CPU) != 0});
    });
}

int barmap_kernel_queue_is_rung_by_cpu(barmap_kernel_queue* queue, int* is) {
    static constexpr char operation[] = "ask who rings a queue's doorbell";
    return attempt([&] {
        int& to = expect(is, operation, "pass a pointer for the answer, not NULL");
        kernel_queue_state& state = state_of(queue, operation);
        checkpoint::pass const here = state.device().enter(operation, device_state::look::always);
        to = state.is_rung_by_cpu();
    });
}

int barmap_kernel_queue_get(barmap_kernel_queue* queue, barmap_kernel_queue_handle* handle) {
    return get(queue, handle, false);
}

int barmap_kernel_queue_get_for_thread(barmap_kernel_queue* queue,
                                       barmap_kernel_queue_handle* handle) {
    return get(queue, handle, true);
}

int barmap_kernel_queue_enqueue(barmap_kernel_queue* queue, std::uint64_t pieces,
                                std::uint64_t count, std::size_t most, std::uint64_t at_most_ns,
                                void* stream) {
    static constexpr char operation[] = "enqueue a list of copies";
    return attempt([&] {
        kernel_queue_state& state = state_of(queue, operation);
        if (pieces % alignof(gpu::copy_piece) != 0 || count % alignof(gpu::word) != 0 ||
            pieces == 0 || count == 0)
            throw error(errc::invalid_argument, operation, "",
                        "give the addresses of the list and of its length, aligned to 8 bytes");
        // In a stream that is being captured, the look at CUDA would be refused.
        checkpoint::pass const here = state.device().enter(operation, device_state::look::never);
        state.enqueue(reinterpret_cast<gpu::copy_piece const*>(pieces),
                      reinterpret_cast<gpu::word const*>(count), most, at_most_ns, stream);
    });
}

int barmap_kernel_queue_check(barmap_kernel_queue* queue) {
    static constexpr char operation[] = "check a queue for kernels";
    return attempt([&] {
        kernel_queue_state& state = state_of(queue, operation);
        checkpoint::pass const here = state.device().enter(operation, device_state::look::never);
        if (auto const why = state.failure())
            throw error(errc::copy_unfinished, operation, "", *why);
    });
}

int barmap_kernel_queue_restart(barmap_kernel_queue* queue) {
    static constexpr char operation[] = "restart a queue for kernels";
    return attempt([&] {
        kernel_queue_state& state = state_of(queue, operation);
        checkpoint::pass const here = state.device().enter(operation, device_state::look::always);
        state.restart();
    });
}

void barmap_kernel_queue_destroy(barmap_kernel_queue* queue) {
    c::free_handle(queue);
}
