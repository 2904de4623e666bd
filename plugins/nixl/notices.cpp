// SPDX-License-Identifier: MIT
#include "notices.hpp"

#include "base/random_bytes.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <system_error>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace barmap::nixl {
namespace {

constexpr std::size_t key_letters = 32;

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
    receiver_ = std::make_unique<std::thread>(&notices::receive, this);
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

void notices::receive() {
    constexpr std::size_t before_name = key_letters + sizeof(std::uint32_t);
    for (;;) {
        ssize_t const bytes = recv(socket_.get(), nullptr, 0, MSG_PEEK | MSG_TRUNC);
        std::string message(bytes > 0 ? static_cast<std::size_t>(bytes) : 0, '\0');
        if (bytes >= 0)
            (void)recv(socket_.get(), message.data(), message.size(), MSG_DONTWAIT);
        if (bytes == 0 && is_shut_down(socket_.get())) // and not a message without a byte
            return;
        if (message.size() < before_name || message.compare(0, key_letters, own_.key) != 0)
            continue; // a stranger's
        std::uint32_t letters = 0;
        std::memcpy(&letters, message.data() + key_letters, sizeof letters);
        std::lock_guard const hold(lock_);
        if (letters <= message.size() - before_name)
            arrived_.emplace_back(message.substr(before_name, letters),
                                  message.substr(before_name + letters));
    }
}

} // namespace barmap::nixl
