// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace barmap::test {

/// One end of the line between a test and another process.
class line {
public:
    struct ends {
        int near, far;
    };
    /// The sockets of a new line, for which the caller cares.
    [[nodiscard]] static ends pair() {
        int both[2] = {-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both), 0);
        return {both[0], both[1]};
    }
    explicit line(int socket) noexcept : socket_(socket) {}
    [[nodiscard]] int socket() const noexcept { return socket_; }

    void send(void const* bytes, std::size_t count) const {
        EXPECT_EQ(::send(socket_, bytes, count, MSG_NOSIGNAL), static_cast<ssize_t>(count));
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

} // namespace barmap::test
