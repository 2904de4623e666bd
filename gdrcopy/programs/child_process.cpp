// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/child_process.hpp"

#include "gdrcopy/programs/sanity.hpp"
#include "output/formatted.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace barmap::tool::gdrcopy::sanity {
namespace {

[[noreturn]] void fail(char const* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// A report is one letter of the verdict, then the reason.
[[noreturn]] void report_and_leave(int to, char letter, std::string const& reason) {
    std::string const text = letter + reason;
    // A report that does not arrive counts as a crash.
    (void)!::write(to, text.data(), text.size());
    std::fflush(nullptr);
    _exit(0); // no destructors: the parent's objects are in this process as well
}

[[noreturn]] void work_and_leave(std::function<void()> const& work, int to) {
    try {
        work();
    } catch (waived const& why) {
        report_and_leave(to, 'W', why.what());
    } catch (std::exception const& why) {
        report_and_leave(to, 'F', why.what());
    }
    report_and_leave(to, 'P', "");
}

std::string read_all(int from) {
    std::string text;
    std::array<char, 512> block{};
    for (;;) {
        ssize_t const length = ::read(from, block.data(), block.size());
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return text;
        text.append(block.data(), std::size_t(length));
    }
}

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return "took too long";
    if (WIFSIGNALED(status))
        return formatted("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return formatted("exited with {} before its end", WEXITSTATUS(status));
}

} // namespace

child_process::child_process(std::function<void()> const& work, unsigned limit_s) {
    std::array<int, 2> pipe_ends{};
    if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0)
        fail("make a pipe");
    report_ = os::fd(pipe_ends[0]);
    os::fd const to(pipe_ends[1]);
    std::fflush(nullptr); // else both would write what is in the buffers
    pid_t const parent = getpid();
    process_ = fork();
    if (process_ < 0)
        fail("fork");
    if (process_ > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    alarm(limit_s);
    work_and_leave(work, to.get());
}

child_process::~child_process() {
    if (process_ <= 0)
        return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
}

outcome child_process::wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0)
        if (errno != EINTR)
            fail("wait for a process");
    process_ = -1;
    // Its own children die with it, so that the report's last writer goes.
    std::string const text = read_all(report_.get());
    if (text.empty())
        return {verdict::failed, how_it_ended(status)};
    verdict const what = text.front() == 'P'   ? verdict::passed
                         : text.front() == 'W' ? verdict::waived
                                               : verdict::failed;
    return {what, text.substr(1)};
}

void child_process::join() {
    outcome const ended = wait();
    if (ended.what == verdict::waived)
        throw waived(ended.reason);
    if (ended.what == verdict::failed)
        throw failed("the other process: " + ended.reason);
}

channel::channel() {
    std::array<int, 2> made{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made.data()) != 0)
        fail("make a socket pair");
    ends_[0] = os::fd(made[0]);
    ends_[1] = os::fd(made[1]);
}

int channel::end() const noexcept {
    return ends_[0] ? ends_[0].get() : ends_[1].get();
}

void channel::send(std::uint64_t value) const {
    if (::send(end(), &value, sizeof value, MSG_NOSIGNAL) != ssize_t(sizeof value))
        throw failed("the other process ended too early");
}

std::uint64_t channel::receive() const {
    std::uint64_t value = 0;
    ssize_t length = 0;
    do
        length = recv(end(), &value, sizeof value, MSG_WAITALL);
    while (length < 0 && errno == EINTR);
    if (length != ssize_t(sizeof value))
        throw failed("the other process ended too early");
    return value;
}

} // namespace barmap::tool::gdrcopy::sanity
