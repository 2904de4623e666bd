// SPDX-License-Identifier: MIT
#include "semantics/fixture.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <pthread.h>
#include <thread>

/// Copies while other threads call the library. The contract is that of gdrapi.h: any thread may
/// call anything at any time, except that nobody unmaps what another is copying through.
namespace barmap::dropin {
namespace {

using threads = semantics;

constexpr std::size_t size = 65536;
constexpr int rounds = 300;

/// Threads that run work() again and again until this goes.
template <class Work>
class repeated {
public:
    repeated(unsigned count, Work work) {
        for (unsigned i = 0; i < count; ++i)
            running_.emplace_back([this, work, i] {
                while (!stop_)
                    work(i);
            });
    }
    ~repeated() { stop_ = true; }
    repeated(repeated const&) = delete;
    repeated& operator=(repeated const&) = delete;

private:
    std::atomic<bool> stop_{false};
    std::vector<std::jthread> running_;
};

// Each round's mapping takes the place of the one before, in the library and often in the address
// space, too.
TEST_F(threads, copies_by_former_handles_are_refused_while_others_come_and_go) {
    gpu_block const block = memory(size);
    struct former {
        std::atomic<unsigned long> handle{0};
        std::atomic<void*> address{nullptr};
    } last;
    std::atomic<std::uint64_t> refused{0};
    auto const copy = [&](unsigned which) {
        alignas(64) std::array<unsigned char, 128> host{};
        gdr_mh_t const handle{last.handle};
        void* const address = last.address;
        std::size_t const bytes = which % 2 == 0 ? 8 : 100;
        EXPECT_EQ(gdr_copy_to_mapping(handle, address, host.data(), bytes), EINVAL);
        EXPECT_EQ(gdr_copy_from_mapping(handle, host.data(), address, bytes), EINVAL);
        ++refused;
    };
    repeated const copying(4, copy);
    for (int i = 0; i < rounds || refused < rounds; ++i) {
        gdr_mh_t const handle = pinned(block.address, size);
        unsigned char* const va = mapped(handle);
        if (i % 3 != 0) {
            EXPECT_EQ(gdr_unmap(g_, handle, va, size), 0);
        }
        if (i % 3 != 1) {
            EXPECT_EQ(gdr_unpin_buffer(g_, handle), 0);
        }
        last.handle = handle.h;
        last.address = va;
    }
    require_untouched(&cuda_, block);
}

TEST_F(threads, copies_are_right_while_other_memory_is_mapped_and_unmapped) {
    constexpr unsigned copying_threads = 4;
    constexpr std::size_t part = size / copying_threads;
    gpu_block const block = memory(size), other = memory(size);
    gdr_mh_t const handle = pinned(block.address, size);
    unsigned char* const cpu = mapped(handle) + (block.address - info_of(handle).va);
    std::atomic<std::uint64_t> copied{0};
    auto const copy = [&](unsigned which) {
        std::vector<unsigned char> bytes(part);
        auto const turn = static_cast<unsigned>(++copied);
        fill_pattern(bytes.data(), part, turn);
        EXPECT_EQ(gdr_copy_to_mapping(handle, cpu + which * part, bytes.data(), part), 0);
        std::fill(bytes.begin(), bytes.end(), 0);
        EXPECT_EQ(gdr_copy_from_mapping(handle, bytes.data(), cpu + which * part, part), 0);
        require_pattern(bytes.data(), part, turn, "a thread's own part");
    };
    repeated const copying(copying_threads, copy);
    for (int i = 0; i < rounds || copied < rounds; ++i) {
        gdr_mh_t const passing = pinned(other.address, size);
        (void)mapped(passing);
        EXPECT_EQ(gdr_unpin_buffer(g_, passing), 0);
    }
}

/// What the signal handler copies through.
struct {
    gdr_mh_t handle{};
    unsigned char* address = nullptr;
    std::atomic<int> wrong{0}, done{0};
} interrupted;

void copy_in_handler(int) {
    std::array<unsigned char, 24> bytes{}, there{};
    auto const turn = static_cast<unsigned char>(++interrupted.done);
    bytes.fill(turn);
    if (gdr_copy_to_mapping(interrupted.handle, interrupted.address, bytes.data(), 24) != 0 ||
        gdr_copy_from_mapping(interrupted.handle, there.data(), interrupted.address, 24) != 0 ||
        bytes != there)
        ++interrupted.wrong;
}

TEST_F(threads, a_signal_handler_may_copy_in_the_midst_of_a_copy) {
    gpu_block const block = memory(2 * size);
    gdr_mh_t const handle = pinned(block.address, 2 * size);
    unsigned char* const cpu = mapped(handle) + (block.address - info_of(handle).va);
    interrupted.handle = handle;
    interrupted.address = cpu + size;
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = copy_in_handler;
    sigaction(SIGUSR1, &action, &before);
    {
        auto const interrupt = [thread = pthread_self()](unsigned) {
            pthread_kill(thread, SIGUSR1);
            std::this_thread::yield();
        };
        repeated const interrupting(1, interrupt);
        std::vector<unsigned char> bytes(size);
        for (int i = 0; i < rounds || interrupted.done < rounds; ++i) {
            fill_pattern(bytes.data(), size, static_cast<unsigned>(i));
            ASSERT_EQ(gdr_copy_to_mapping(handle, cpu, bytes.data(), size), 0);
            std::fill(bytes.begin(), bytes.end(), 0);
            ASSERT_EQ(gdr_copy_from_mapping(handle, bytes.data(), cpu, size), 0);
            require_pattern(bytes.data(), size, static_cast<unsigned>(i), "an interrupted copy");
        }
    }
    sigaction(SIGUSR1, &before, nullptr);
    EXPECT_EQ(interrupted.wrong, 0);
}

} // namespace
} // namespace barmap::dropin
