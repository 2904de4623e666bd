// SPDX-License-Identifier: MIT
/// How waits on the GPU end, and when. Compiles as <barmap/gpu/words.cuh>.
#pragma once

#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

enum class status : int {
    ok,
    full,     ///< no room, and 0 ns to wait for it
    empty,    ///< nothing there, and 0 ns to wait for it
    closed,   ///< the other side has closed it, and all messages have been read
    timed_out ///< the time is over: there was no room, or what was waited for did not come
};

namespace detail {

/// Bounds a wait, for which 0 ns are one poll. Otherwise the clock is read after each 64 polls, and the
/// time begins with the first reading: what is there by then costs no reading.
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
    /// How a wait ends for which there was nothing.
    BARMAP_DEVICE status without(status nothing) const {
        return nanoseconds_ == 0 ? nothing : status::timed_out;
    }

private:
    word nanoseconds_, begin_; ///< 0: has not begun
    unsigned polls_left_; ///< before is_over() is asked
};

} // namespace detail
} // namespace gpu
} // namespace barmap
