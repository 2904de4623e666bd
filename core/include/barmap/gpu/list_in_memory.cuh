// SPDX-License-Identifier: MIT
/// The body of the kernel of barmap_kernel_queue_enqueue(), for calls in your own kernels.
/// Compiles as <barmap/gpu/kernel_queue.cuh>.
#pragma once

#include <barmap/gpu/kernel_queue.cuh>
#include <barmap/gpu/shared_queue.cuh>

namespace barmap {
namespace gpu {

/// A list of pieces that lies in memory, and what happens around its copies.
struct kernel_queue_task {
    kernel_queue queue;
    copy_piece const* pieces;
    word const* count; ///< how many pieces; may be written just before, by any GPU code
    word most;         ///< room in the list; no list is longer
    word nanoseconds;  ///< how long to wait, in all, for the queue, room, and the copies
};

namespace detail {

/// Submits the list of a task and waits for it. @param time_left at least 1, which allows some
/// polls
template <class Submitter, class TimeLeft>
BARMAP_DEVICE status submit_and_wait_by(Submitter& copies, kernel_queue_task const& task,
                                        TimeLeft const& time_left) {
    word const count = of_first_lane(load_acquire(task.count));
    if (count > task.most)
        return status::invalid;
    status result = status::ok;
    word ticket = 0;
    bool is_wrong = false;
    for (word at = 0; at < count && result == status::ok; at += kernel_queue::most_pieces) {
        copy_piece const* const from = task.pieces + at;
        unsigned const some = static_cast<unsigned>(
            count - at < kernel_queue::most_pieces ? count - at : kernel_queue::most_pieces);
        result = copies.submit(
            some, [=](unsigned i) { return from[i]; }, ticket, copy_signal{0, 0, 0}, time_left());
        if (result == status::invalid_piece) { // the others are copied, also those behind
            is_wrong = true;
            result = status::ok;
        }
    }
    if (ticket != 0) {
        status const waited = copies.wait(ticket, time_left());
        if (waited != status::ok)
            result = waited;
    }
    return is_wrong && result == status::ok ? status::invalid_piece : result;
}

} // namespace detail

/// The body of the kernel that barmap_kernel_queue_enqueue() launches, as one warp: it submits the
/// list, however long, and waits until it is copied. Waits while another warp has the queue, unless
/// it is of the shared form. A status other than ok stays in the queue's state, for
/// barmap_kernel_queue_check().
BARMAP_DEVICE status submit_and_wait(kernel_queue_task const& task) {
    if (task.queue.layout != kernel_queue::layout_number)
        return status::invalid; // where nothing is known of the handle, nothing is written by it
    word const begin = nanoseconds_now();
    auto const time_left = [&] {
        word const passed = detail::of_first_lane(nanoseconds_now() - begin);
        return passed < task.nanoseconds ? task.nanoseconds - passed : 1;
    };
    status result = status::busy;
    if (task.queue.sharing) {
        shared_submitter copies(task.queue);
        result = detail::submit_and_wait_by(copies, task, time_left);
    } else {
        do {
            warp_submitter copies(task.queue);
            result = copies.opened() == status::ok
                         ? detail::submit_and_wait_by(copies, task, time_left)
                         : copies.opened();
        } while (result == status::busy && time_left() > 1);
    }
    if (result != status::ok && detail::lane() == 0)
        store_release(&task.queue.state->refused, static_cast<word>(result));
    return result;
}

} // namespace gpu
} // namespace barmap
