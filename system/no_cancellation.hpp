// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>

namespace barmap::os {

/// Keeps this thread from being cancelled while it lives: a cancellation would unwind through code
/// that does not let exceptions out, and end the process. It comes afterwards instead.
class no_cancellation {
public:
    no_cancellation() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    no_cancellation(no_cancellation const&) = delete;
    no_cancellation& operator=(no_cancellation const&) = delete;
    ~no_cancellation() { ::pthread_setcancelstate(before_, nullptr); }

private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

} // namespace barmap::os
