// SPDX-License-Identifier: MIT
#include "output/interruption.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace barmap::tool {
namespace {

std::atomic<int> told{-1}; // the pipe of the interruption that lives

// A handler may do no more: the interrupted thread may hold any lock.
void pass_on(int signal) {
    int const before = errno;
    auto const number = static_cast<unsigned char>(signal);
    (void)!::write(told.load(), &number, 1);
    errno = before;
}

} // namespace

interruption::interruption(std::function<void()> save) : save_(std::move(save)) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw std::system_error(errno, std::system_category(), "cannot make a pipe");
    read_end_ = ends[0];
    write_end_ = ends[1];
    told.store(write_end_);
    waiting_ = std::thread([this] { wait_for_signal(); });
    struct sigaction handled {};
    handled.sa_handler = pass_on;
    handled.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    for (int const signal : {SIGINT, SIGTERM}) {
        struct sigaction now {};
        if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL)
            continue;
        before_.emplace_back(signal, now);
        ::sigaction(signal, &handled, nullptr);
    }
}

interruption::~interruption() {
    for (auto const& [signal, action] : before_)
        ::sigaction(signal, &action, nullptr);
    constexpr unsigned char none = 0;
    (void)!::write(write_end_, &none, 1);
    waiting_.join();
    told.store(-1);
    ::close(read_end_);
    ::close(write_end_);
}

void interruption::wait_for_signal() {
    unsigned char signal = 0;
    while (::read(read_end_, &signal, 1) < 0 && errno == EINTR)
        continue;
    if (signal == 0)
        return;
    save_();
    ::raise(signal);
    ::_exit(128 + signal); // as the first process of a container, whom no such signal ends
}

} // namespace barmap::tool
