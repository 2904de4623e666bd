// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace barmap::gpu_test {

/// One end of the line between a test and another run of this program.
class line {
public:
    explicit line(int socket) noexcept : socket_(socket) {}

    void send(void const* bytes, std::size_t count) const {
        EXPECT_EQ(::write(socket_, bytes, count), static_cast<ssize_t>(count));
    }
    [[nodiscard]] bool receive(void* bytes, std::size_t count) const {
        return ::read(socket_, bytes, count) == static_cast<ssize_t>(count);
    }
    /// The other end receives nothing any more.
    void end() const { ::shutdown(socket_, SHUT_WR); }
    void send_descriptor(int descriptor) const {
        room with;
        msghdr message = with.message();
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof descriptor);
        std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
        EXPECT_EQ(::sendmsg(socket_, &message, MSG_NOSIGNAL), 1);
    }
    [[nodiscard]] int receive_descriptor() const {
        room with;
        msghdr message = with.message();
        int descriptor = -1;
        if (::recvmsg(socket_, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
            std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
        return descriptor;
    }

private:
    struct room {
        char word = 'd';
        iovec content{&word, 1};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
        [[nodiscard]] msghdr message() noexcept {
            msghdr result{};
            result.msg_iov = &content;
            result.msg_iovlen = 1;
            result.msg_control = control;
            result.msg_controllen = sizeof control;
            return result;
        }
    };
    int socket_;
};

/// Where a run that other_run has started finds its line.
inline constexpr int line_of_this_run = 9;

/// A disabled test, run by a process of its own, which has not started CUDA.
class other_run : public line {
public:
    explicit other_run(std::string const& test) : other_run(test, pair()) {}
    other_run(other_run const&) = delete;
    other_run& operator=(other_run const&) = delete;
    ~other_run() {
        if (child_ > 0)
            kill();
        ::close(socket_);
    }

    /// @return its wait status
    int wait() {
        int status = -1;
        ::waitpid(std::exchange(child_, -1), &status, 0);
        return status;
    }
    void kill() {
        ::kill(child_, SIGKILL);
        EXPECT_TRUE(WIFSIGNALED(wait()));
    }

private:
    struct ends {
        int near, far;
    };
    static ends pair() {
        int both[2] = {-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both), 0);
        return {both[0], both[1]};
    }
    other_run(std::string const& test, ends of) : line(of.near), socket_(of.near) {
        child_ = ::fork();
        if (child_ == 0) {
            ::dup2(of.far, line_of_this_run);
            ::execl("/proc/self/exe", "gpu_test", "--gtest_also_run_disabled_tests",
                    ("--gtest_filter=" + test).c_str(), nullptr);
            ::_exit(127);
        }
        ::close(of.far);
    }

    int socket_;
    pid_t child_ = -1;
};

} // namespace barmap::gpu_test
