// SPDX-License-Identifier: MIT
#include "api/handles.hpp"
#include "api/kernel_queue_state.hpp"
#include "base/c_options.hpp"
#include "transfer/engine/kept_by_graphs.hpp"

#include <barmap/error.hpp>
#include <barmap/kernel_queue.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

struct barmap_kernel_queue {
    barmap_kernel_queue(std::shared_ptr<barmap::device_state> of,
                        barmap::engine::kernel_channel::form how)
        : state(std::make_shared<barmap::kernel_queue_state>(std::move(of), how)) {}
    ~barmap_kernel_queue() { state->wait_for_kernels(); }
    std::shared_ptr<barmap::kernel_queue_state> const state; ///< graphs have shares
};

using namespace barmap;
using c::attempt;
using c::expect;

namespace {

kernel_queue_state& state_of(barmap_kernel_queue* queue, char const* operation) {
    return *expect(queue, operation, "create a queue for kernels first").state;
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
        cuda::context_scope const scope(state.context());
        (void)engine::keep_if_captured(static_cast<CUstream>(stream), queue->state);
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
