// SPDX-License-Identifier: MIT
#include "system/thread.hpp"

#include <csignal>
#include <pthread.h>
#include <utility>

namespace barmap::os {
namespace {

/// While it lives, the calling thread blocks the program's signals; a new thread inherits that.
class signals_blocked {
public:
    signals_blocked() noexcept {
        sigset_t most;
        ::sigfillset(&most);
        for (int const each : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
            ::sigdelset(&most, each);
        ::pthread_sigmask(SIG_SETMASK, &most, &before_);
    }
    signals_blocked(signals_blocked const&) = delete;
    signals_blocked& operator=(signals_blocked const&) = delete;
    ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_;
};

} // namespace

thread::thread(char const* name, std::function<void()> body) {
    signals_blocked const inherited;
    running_ = std::thread([name, body = std::move(body)] {
        ::pthread_setname_np(::pthread_self(), name);
        body();
    });
}

} // namespace barmap::os
