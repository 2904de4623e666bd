// SPDX-License-Identifier: MIT
#include "system/parcel.hpp"

#include "system/calls.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <sys/socket.h>

/// A parcel is a socket with one datagram in its queue, at which barmap only peeks. A holder that
/// receives it has emptied the parcel for all.
namespace barmap::os {
namespace {

/// Room for the descriptors of a message.
struct ancillary {
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(parcel::most_files * sizeof(int))> room{};
};

[[noreturn]] void fail(char const* operation) {
    int const code = errno;
    char const* advice = "see the system's documentation of this error";
    if (code == EMFILE || code == ENFILE || code == ETOOMANYREFS)
        advice = "raise the limit of open files (ulimit -n), or close descriptors";
    throw error({code, std::system_category()}, operation, "", advice);
}

[[noreturn]] void refuse(char const* operation) {
    throw error(errc::invalid_argument, operation, "",
                "give a descriptor that share() made, as it was received");
}

/// Owns what came with a message. A sender can have the kernel add a descriptor of its process.
/// @pre `to` has room for most_files
void take_files(msghdr& message, std::vector<fd>& to) {
    constexpr int of_process = 4; // SCM_PIDFD, since Linux 6.5
    for (cmsghdr* each = CMSG_FIRSTHDR(&message); each; each = CMSG_NXTHDR(&message, each)) {
        if (each->cmsg_level != SOL_SOCKET ||
            (each->cmsg_type != SCM_RIGHTS && each->cmsg_type != of_process))
            continue;
        std::size_t const count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int descriptor = -1;
            std::memcpy(&descriptor, CMSG_DATA(each) + i * sizeof descriptor, sizeof descriptor);
            to.emplace_back(descriptor);
        }
    }
}

} // namespace

fd parcel::pack(std::span<std::byte const> bytes, std::span<fd const> files) {
    constexpr char what[] = "make a descriptor for shared memory";
    int ends[2] = {-1, -1};
    if (current().socket_pair(ends) != 0)
        fail(what);
    fd const sender(ends[0]);
    fd receiver(ends[1]);
    iovec content{const_cast<std::byte*>(bytes.data()), bytes.size()}; // which is only read
    ancillary with;
    msghdr message{};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    if (!files.empty()) {
        message.msg_control = with.room.data();
        message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
        for (std::size_t i = 0; i < files.size(); ++i) {
            int const descriptor = files[i].get();
            std::memcpy(CMSG_DATA(header) + i * sizeof descriptor, &descriptor, sizeof descriptor);
        }
    }
    if (current().send_message(sender.get(), &message) < 0)
        fail(what);
    return receiver;
}

parcel parcel::look_into(int descriptor) {
    constexpr char what[] = "open shared memory";
    parcel result;
    result.bytes.resize(most_bytes);
    iovec content{result.bytes.data(), result.bytes.size()};
    ancillary with;
    msghdr message{};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = with.room.data();
    message.msg_controllen = with.room.size();
    result.files.reserve(most_files + 1); // so that no descriptor leaks if memory runs out
    ssize_t const length = current().peek_message(descriptor, &message);
    if (length < 0 && (errno == ENOMEM || errno == ENOBUFS))
        fail(what);
    if (length < 0)
        refuse(what);
    take_files(message, result.files);
    if (message.msg_flags & MSG_CTRUNC) {
        expect_descriptors(what);
        refuse(what);
    }
    if (message.msg_flags & MSG_TRUNC)
        refuse(what);
    result.bytes.resize(static_cast<std::size_t>(length));
    return result;
}

} // namespace barmap::os
