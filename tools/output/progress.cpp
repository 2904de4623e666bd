// SPDX-License-Identifier: MIT
#include "output/progress.hpp"

#include "output/formatted.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <unistd.h>

namespace barmap::tool {
namespace {

// Of the one terminal. The thread of an interruption changes them as well.
std::atomic<bool> visible{false}; // a bar
std::atomic<bool> over{false};    // no bar is drawn any more

} // namespace

progress::progress(std::size_t steps)
    : steps_(std::max<std::size_t>(steps, 1)), terminal_(isatty(STDERR_FILENO) == 1) {}

progress::~progress() {
    wipe();
}

void progress::wipe() noexcept {
    if (!visible)
        return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    visible = false;
}

void progress::stop() noexcept {
    over = true;
    wipe();
}

void progress::step(std::string_view now_doing) {
    reach(done_, now_doing);
    ++done_;
}

void progress::reach(std::size_t done, std::string_view now_doing) {
    constexpr double redraw_s = 0.1;
    done_ = std::min(done, steps_);
    if (!terminal_ || over || seconds_since(begin_) < 1 || seconds_since(drawn_) < redraw_s)
        return;
    constexpr std::size_t width = 30;
    std::size_t const filled = width * done_ / steps_;
    std::string const line = formatted("\r\033[K[{:#<{}}{:.<{}}] {:3}% {:.40}", "", filled, "",
                                       width - filled, 100 * done_ / steps_, now_doing);
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
    visible = true;
    drawn_ = clock::now();
}

} // namespace barmap::tool
