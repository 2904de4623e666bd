// SPDX-License-Identifier: MIT
#include "semantics/fixture.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <sys/mman.h>
#include <thread>

/// Copies that meet the end of their mapping. The contract is that of gdrapi.h: any thread may call
/// anything at any time, and a handle that is not mapped is answered with EINVAL.
namespace barmap::dropin {
namespace {

using threads = semantics;

constexpr std::size_t size = 65536;
constexpr auto duration = std::chrono::milliseconds(2000);

/// More threads than CPUs, so that they are interrupted at every place of a copy.
unsigned copying_threads() {
    return std::max(8u, 2 * std::thread::hardware_concurrency());
}

/// Keeps the addresses of the last mapping from being given to the next one.
class reserved_range {
public:
    reserved_range() = default;
    reserved_range(reserved_range const&) = delete;
    reserved_range& operator=(reserved_range const&) = delete;
    ~reserved_range() { move_to(nullptr); }

    void move_to(void* address) {
        void* const before = place_;
        place_ = address ? ::mmap(address, size, PROT_NONE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
                         : MAP_FAILED;
        if (before != MAP_FAILED)
            ::munmap(before, size);
    }

private:
    void* place_ = MAP_FAILED;
};

struct copies {
    std::atomic<gdr_mh_t> handle{};
    std::atomic<std::uintptr_t> address{0};
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> succeeded{0}, refused{0};

    /// Copies in both directions, to where the mapping was last seen.
    void run(std::size_t bytes) {
        alignas(64) std::array<unsigned char, 128> host{};
        std::uint64_t done = 0, not_done = 0;
        while (!stop.load(std::memory_order_relaxed)) {
            gdr_mh_t const which = handle.load(std::memory_order_relaxed);
            auto* const device = reinterpret_cast<void*>(address.load(std::memory_order_relaxed));
            for (int const answer : {gdr_copy_to_mapping(which, device, host.data(), bytes),
                                     gdr_copy_from_mapping(which, host.data(), device, bytes)}) {
                if (answer != 0 && answer != EINVAL)
                    fail("a copy answered %d", answer);
                ++(answer == 0 ? done : not_done);
            }
        }
        succeeded += done;
        refused += not_done;
    }
};

/// Runs copies on many threads while `remap` is called again and again.
template <class Remap>
void while_copying(copies& shared, Remap remap) {
    std::vector<std::jthread> running;
    for (unsigned i = 0; i < copying_threads(); ++i)
        running.emplace_back([&, i] { shared.run(i % 4 == 3 ? 100 : 8); });
    auto const end = std::chrono::steady_clock::now() + duration;
    while (std::chrono::steady_clock::now() < end)
        remap();
    shared.stop = true;
    running.clear();
    EXPECT_GT(shared.succeeded, 0u);
    EXPECT_GT(shared.refused, 0u);
}

TEST_F(threads, copy_while_the_handle_is_unmapped_and_mapped_again) {
    gdr_mh_t const handle = pinned(memory(size).address, size);
    copies shared;
    shared.handle = handle;
    reserved_range former;
    while_copying(shared, [&] {
        void* va = nullptr;
        ASSERT_EQ(gdr_map(g_, handle, &va, size), 0);
        shared.address = reinterpret_cast<std::uintptr_t>(va);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        ASSERT_EQ(gdr_unmap(g_, handle, va, size), 0);
        former.move_to(va);
    });
}

TEST_F(threads, copy_while_the_memory_is_unpinned_and_pinned_again) {
    gpu_block const block = memory(size);
    copies shared;
    reserved_range former;
    while_copying(shared, [&] {
        gdr_mh_t handle{};
        void* va = nullptr;
        ASSERT_EQ(gdr_pin_buffer(g_, block.address, size, 0, 0, &handle), 0);
        ASSERT_EQ(gdr_map(g_, handle, &va, size), 0);
        shared.handle = handle;
        shared.address = reinterpret_cast<std::uintptr_t>(va);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        ASSERT_EQ(gdr_unpin_buffer(g_, handle), 0);
        former.move_to(va);
    });
}

TEST_F(threads, copy_while_the_session_is_closed_and_opened_again) {
    gpu_block const block = memory(size);
    copies shared;
    reserved_range former;
    while_copying(shared, [&] {
        gdr_t const other = gdr_open();
        gdr_mh_t handle{};
        void* va = nullptr;
        ASSERT_NE(other, nullptr);
        ASSERT_EQ(gdr_pin_buffer(other, block.address, size, 0, 0, &handle), 0);
        ASSERT_EQ(gdr_map(other, handle, &va, size), 0);
        shared.handle = handle;
        shared.address = reinterpret_cast<std::uintptr_t>(va);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        ASSERT_EQ(gdr_close(other), 0);
        former.move_to(va);
    });
}

} // namespace
} // namespace barmap::dropin
