// SPDX-License-Identifier: MIT
#include "output/progress.hpp"

#include "output/formatted.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace barmap::tool {
namespace {

// Of the one terminal. The thread of an interruption changes them as well.
std::atomic<bool> visible{false}; // a bar
std::atomic<bool> over{false};    // no bar is drawn any more

std::size_t columns_of_stderr() noexcept {
    winsize terminal{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col ? terminal.ws_col : 80;
}

/// How long the rest takes if it continues like that; nothing while that is not known.
std::string time_left(std::size_t done, std::size_t steps, double elapsed_s) {
    if (done == 0)
        return "";
    double const left = elapsed_s * static_cast<double>(steps - done) / static_cast<double>(done);
    return left < 120 ? formatted(" {:.0f} s left", left) : formatted(" {:.0f} min left", left / 60);
}

} // namespace

std::string progress_line(std::size_t done, std::size_t steps, double elapsed_s, std::string_view now_doing,
                          std::size_t columns) {
    std::size_t const width = columns < 70 ? 10 : 20;
    std::size_t const filled = width * done / steps;
    std::string line = formatted("[{:#<{}}{:.<{}}] {:3}%{}", "", filled, "", width - filled, 100 * done / steps,
                                 time_left(done, steps, elapsed_s));
    // A line that fills the last column would wrap, and be left behind.
    if (line.size() + 3 < columns)
        line += formatted(" {:.{}}", now_doing, columns - line.size() - 2);
    return line;
}

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
    std::string const line = "\r\033[K" + progress_line(done_, steps_, seconds_since(begin_), now_doing, columns_of_stderr());
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
    visible = true;
    drawn_ = clock::now();
}

} // namespace barmap::tool
