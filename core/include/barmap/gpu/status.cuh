// SPDX-License-Identifier: MIT
/// Results and time limits of waits on the GPU. Compiles as <barmap/gpu/words.cuh>.
#pragma once

#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

enum class status : int {
    ok,
    full,      ///< no room, and a time limit of 0
    empty,     ///< nothing there, and a time limit of 0
    closed,    ///< the other side has closed it, and all messages have been read
    timed_out, ///< the time is over, without room or without a message, a number or a reply
    // Of kernel_queue.cuh alone:
    failed,       ///< the channel has stopped: barmap::kernel_queue::check() says why
    busy,         ///< another warp has the queue, or one ended without releasing it
    invalid,      ///< an argument is not allowed, or the handle is of another version
    invalid_piece ///< a piece is too long
};

namespace detail {

/// Limits a wait; 0 ns allow one poll. Otherwise the clock is read after each 64 polls, and the
/// time begins with the first reading: a wait that ends before costs no reading.
class time_limit {
public:
    BARMAP_DEVICE explicit time_limit(word nanoseconds)
        : nanoseconds_(nanoseconds), begin_(0), polls_left_(nanoseconds == 0 ? 1 : 64) {}

    /// After a poll that found nothing: whether to poll again at once, without is_over().
    BARMAP_DEVICE bool polls_again() { return --polls_left_ != 0; }
    BARMAP_DEVICE bool is_over() {
        polls_left_ = 64;
        if (nanoseconds_ == 0)
            return true;
        word const now = nanoseconds_now();
        if (begin_ == 0)
            begin_ = now;
        return now - begin_ >= nanoseconds_;
    }
    /// The status of a wait that found nothing.
    BARMAP_DEVICE status without(status nothing) const {
        return nanoseconds_ == 0 ? nothing : status::timed_out;
    }

private:
    word nanoseconds_, begin_; ///< begin_ is 0 before the first reading of the clock
    unsigned polls_left_;      ///< until is_over() is called
};

} // namespace detail
} // namespace gpu
} // namespace barmap
