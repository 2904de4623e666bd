// SPDX-License-Identifier: MIT
#include "api/kernel_queue_state.hpp"

#include "transfer/engine/channel/queue_kernels.ptx.hpp"

#include <barmap/error.hpp>

namespace barmap {

namespace {

/// The text of a list's failure, with advice.
char const* text_of(gpu::status failure) {
    switch (failure) {
    case gpu::status::invalid:
        return "an enqueued list has more pieces than its room: the engine copied none";
    case gpu::status::invalid_piece:
        return "a piece of an enqueued list is longer than 1 GiB: the engine copied the others";
    case gpu::status::busy:
        return "an enqueued list waited too long for the queue: give it more time, or another "
               "queue; if a kernel has ended without releasing the queue, restart it";
    default:
        return "the engine did not copy an enqueued list in its time: give it more; the engine may "
               "still copy its pieces, so free none of them before a restart";
    }
}

} // namespace

void kernel_queue_state::restart() {
    wait_for_kernels();
    std::lock_guard const hold(lock_);
    channel_.reset();
    make();
}

gpu::kernel_queue kernel_queue_state::get(bool for_thread) {
    std::lock_guard const hold(lock_);
    expect_channel();
    if (auto const why = channel_->failure())
        throw error(errc::backend_broken, "let kernels submit copies", "",
                    *why + "; restart the queue when no kernel uses it");
    return for_thread ? channel_->queue_for_thread() : channel_->queue();
}

bool kernel_queue_state::is_rung_by_cpu() {
    std::lock_guard const hold(lock_);
    expect_channel();
    return channel_->is_rung_by_cpu();
}

void kernel_queue_state::enqueue(gpu::copy_piece const* pieces, gpu::word const* count,
                                 std::size_t most, std::uint64_t at_most_ns, void* stream) {
    gpu::kernel_queue_task task{get(false), pieces, count, most, at_most_ns};
    void* arguments[] = {&task};
    constexpr unsigned warp = 32;
    kernel().launch(warp, arguments, stream, "enqueue a list of copies");
}

cuda::own_kernel const& kernel_queue_state::kernel() {
    std::lock_guard const hold(lock_);
    if (!kernel_) {
        cuda::relaxed_capture const relaxed; // the first list may be captured
        cuda::context_scope const scope(context_.get());
        kernel_.emplace(ptx::queue_kernels, "barmap_queue_submit");
    }
    return *kernel_;
}

std::optional<std::string> kernel_queue_state::why_it_stopped() {
    std::lock_guard const hold(lock_);
    return channel_ ? channel_->failure() : std::nullopt;
}

kernel_queue_state::trouble kernel_queue_state::take_trouble() {
    std::lock_guard const hold(lock_);
    if (!channel_)
        return {};
    // In this order: a stop refuses the lists of waiting kernels.
    std::optional<gpu::status> const refusal = channel_->take_refusal();
    return {channel_->failure(), refusal};
}

std::optional<std::string> kernel_queue_state::failure() {
    auto const [why, refusal] = take_trouble();
    if (why)
        return *why + "; restart the queue when no kernel uses it";
    return refusal ? std::optional<std::string>(text_of(*refusal)) : std::nullopt;
}

bool kernel_queue_state::is_busy() {
    std::lock_guard const hold(lock_);
    return channel_ && !channel_->failure() && channel_->is_busy();
}

void kernel_queue_state::release() {
    wait_for_kernels();
    std::lock_guard const hold(lock_);
    channel_.reset();
}

void kernel_queue_state::wait_for_kernels() noexcept {
    if (!os::is_this_process(device_->owner))
        return; // the lock may be held forever
    std::lock_guard const hold(lock_);
    if (channel_)
        channel_->wait_for_kernels();
}

} // namespace barmap
