// SPDX-License-Identifier: MIT
#include "notices.hpp"

#include "system/random_bytes.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <system_error>
#include <thread>

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

namespace barmap::nixl {
namespace {

constexpr std::size_t key_letters = 32;

/// The head of a message; the sender's name and the text follow.
struct message_head {
    std::array<char, key_letters> key;
    std::uint32_t letters; ///< of the name
};
static_assert(sizeof(message_head) == key_letters + sizeof(std::uint32_t));

std::string random_letters() {
    std::array<unsigned char, key_letters / 2> bytes;
    os::fill_with_random_bytes(std::as_writable_bytes(std::span(bytes)));
    std::string letters;
    for (unsigned char const each : bytes) {
        letters += "0123456789abcdef"[each / 16];
        letters += "0123456789abcdef"[each % 16];
    }
    return letters;
}

[[noreturn]] void fail(char const* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

os::fd make_socket() {
    os::fd made(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!made)
        fail("make a socket");
    return made;
}

/// For reading.
bool is_shut_down(int socket) noexcept {
    pollfd asked{socket, POLLRDHUP, 0};
    return poll(&asked, 1, 0) == 1;
}

struct socket_name {
    explicit socket_name(std::string const& abstract) {
        where.sun_family = AF_UNIX;
        std::size_t const letters = std::min(abstract.size(), sizeof where.sun_path - 1);
        std::memcpy(where.sun_path + 1, abstract.data(), letters);
        bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + letters);
    }
    [[nodiscard]] sockaddr const* get() const noexcept {
        return reinterpret_cast<sockaddr const*>(&where);
    }
    sockaddr_un where{};
    socklen_t bytes;
};

} // namespace

notices::notices(std::string agent)
    : agent_(std::move(agent)), own_{"barmap-nixl-" + random_letters(), random_letters()},
      socket_(make_socket()) {
    timeval const longest{1, 0};
    socket_name const name(own_.socket);
    if (setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest) != 0 ||
        bind(socket_.get(), name.get(), name.bytes) != 0)
        fail("name a socket");
    receiver_ = std::make_unique<os::thread>("barmap-notices", [this] { receive(); });
}

notices::~notices() {
    if (os::is_this_process(owner_)) {
        shutdown(socket_.get(), SHUT_RD); // ends the thread
        receiver_->join();
    } else {
        // Neither joined nor detached: a new thread of the child may have its place.
        (void)receiver_.release();
    }
}

// A message: the key, the length of the sender's name, the name, the text.

void notices::send(address const& to, std::string const& text) const {
    auto const letters = static_cast<std::uint32_t>(agent_.size());
    std::string message = to.key;
    message.append(reinterpret_cast<char const*>(&letters), sizeof letters);
    message += agent_;
    message += text;
    socket_name const name(to.socket);
    while (sendto(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL, name.get(),
                  name.bytes) < 0)
        if (errno != EINTR)
            fail("send a notification");
}

bool notices::is_there(address const& agent) noexcept try {
    os::fd const asking = make_socket();
    socket_name const name(agent.socket);
    return ::connect(asking.get(), name.get(), name.bytes) == 0 || errno != ECONNREFUSED;
} catch (std::system_error const&) {
    return true; // as far as anybody can tell
}

std::vector<notices::notice> notices::take() {
    std::lock_guard const hold(lock_);
    return std::exchange(arrived_, {});
}

void notices::receive() noexcept {
    constexpr std::chrono::milliseconds until_there_is_memory{10};
    for (;;) {
        message_head head;
        ssize_t const bytes = recv(socket_.get(), &head, sizeof head, MSG_PEEK | MSG_TRUNC);
        if (bytes == 0 && is_shut_down(socket_.get())) // and not a message without a byte
            return;
        if (bytes < 0)
            continue;
        auto const rest = static_cast<std::size_t>(bytes) - sizeof head;
        // Nothing is allocated for a stranger's.
        if (static_cast<std::size_t>(bytes) < sizeof head ||
            std::memcmp(head.key.data(), own_.key.data(), key_letters) != 0 ||
            head.letters > rest) {
            (void)recv(socket_.get(), nullptr, 0, MSG_DONTWAIT);
            continue;
        }
        try {
            keep(head.letters, rest - head.letters);
        } catch (std::bad_alloc const&) {
            std::this_thread::sleep_for(until_there_is_memory); // the message waits in the socket
        }
    }
}

void notices::keep(std::size_t name_bytes, std::size_t text_bytes) {
    message_head head;
    notice next{std::string(name_bytes, '\0'), std::string(text_bytes, '\0')};
    std::lock_guard const hold(lock_);
    arrived_.emplace_back(); // all memory first
    std::array<iovec, 3> parts{iovec{&head, sizeof head}, iovec{next.first.data(), name_bytes},
                               iovec{next.second.data(), text_bytes}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    if (recvmsg(socket_.get(), &message, MSG_DONTWAIT) < 0)
        arrived_.pop_back();
    else
        arrived_.back() = std::move(next);
}

} // namespace barmap::nixl
