// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/// Descriptors between processes, over a Unix socket.

/// Closes it here.
inline void send_descriptor(int socket, int descriptor) {
    char word = 0;
    iovec content{&word, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptor)> room{};
    msghdr message{};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    (void)sendmsg(socket, &message, MSG_NOSIGNAL);
    close(descriptor);
}

/// @return -1 if the other process has ended
inline int receive_descriptor(int socket) {
    char word = 0;
    iovec content{&word, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
    msghdr message{};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    int descriptor = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
        std::memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
}
