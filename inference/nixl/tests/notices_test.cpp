// SPDX-License-Identifier: MIT
#include "notices.hpp"

#include "system/fd.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t large = 100 << 10;
std::atomic<bool> large_ones_fail{false};
thread_local bool is_spared = false; // this thread's do not
std::atomic<int> refused{0};

} // namespace

void* operator new(std::size_t bytes) {
    if (bytes >= large && large_ones_fail && !is_spared) {
        ++refused;
        throw std::bad_alloc();
    }
    if (void* const made = std::malloc(bytes))
        return made;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

/// What an agent does with datagrams while memory is exhausted.
namespace barmap::nixl {
namespace {

using namespace std::chrono_literals;

class notices_test : public testing::Test {
protected:
    ~notices_test() override { large_ones_fail = is_spared = false; }
    void SetUp() override { refused = 0; }

    [[nodiscard]] std::vector<notices::notice> wait_for_one() {
        for (;;) {
            if (auto arrived = receiver_.take(); !arrived.empty())
                return arrived;
            std::this_thread::sleep_for(1ms);
        }
    }
    /// Sends a datagram, and allocates nothing for it.
    void send(std::string const& message) const {
        sockaddr_un to{};
        to.sun_family = AF_UNIX;
        std::string const& name = receiver_.own().socket;
        std::ranges::copy(name, to.sun_path + 1);
        auto const bytes =
            static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        os::fd const socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        EXPECT_EQ(::sendto(socket.get(), message.data(), message.size(), 0,
                           reinterpret_cast<sockaddr const*>(&to), bytes),
                  static_cast<ssize_t>(message.size()));
    }
    [[nodiscard]] std::string message(std::string const& key) const {
        std::uint32_t const letters = 6;
        return key + std::string(reinterpret_cast<char const*>(&letters), sizeof letters) +
               "sender" + text_;
    }
    std::string const text_ = std::string(large + 1, 'x');
    notices receiver_{"receiver"};
};

TEST_F(notices_test, what_there_is_no_memory_for_arrives_later) {
    std::string const whole = message(receiver_.own().key);
    large_ones_fail = true;
    send(whole);
    while (refused < 3) // it is tried again
        std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(receiver_.take().empty());
    large_ones_fail = false;
    EXPECT_EQ(wait_for_one(), (std::vector<notices::notice>{{"sender", text_}}));
}

TEST_F(notices_test, nothing_is_allocated_for_a_strangers) {
    std::string const other = message(std::string(32, '0')), own = receiver_.own().key;
    std::string const small = own + std::string("\2\0\0\0mebehind", 12);
    large_ones_fail = true;
    send(other);
    send(own);                                      // shorter than what each begins with
    send(own + std::string("\xff\xff\xff\xff", 4)); // a longer name than the datagram
    send(small);
    EXPECT_EQ(wait_for_one(), (std::vector<notices::notice>{{"me", "behind"}}));
    EXPECT_EQ(refused, 0);
}

TEST_F(notices_test, a_busy_agent_is_waited_for_a_second) {
    using clock = std::chrono::steady_clock;
    notices const sender("sender");
    large_ones_fail = is_spared = true; // so that the receiver leaves all in its socket
    clock::time_point begin;
    try {
        for (;;) {
            begin = clock::now();
            sender.send(receiver_.own(), text_);
        }
    } catch (std::system_error const& full) {
        EXPECT_EQ(full.code().value(), EAGAIN);
        EXPECT_GE(clock::now() - begin, 900ms);
    }
}

} // namespace
} // namespace barmap::nixl
