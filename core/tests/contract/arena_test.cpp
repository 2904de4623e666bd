// SPDX-License-Identifier: MIT
#include "contract/numbered.hpp"
#include "shared/in_child.hpp"

#include <barmap/arena.hpp>

#include <atomic>
#include <thread>
#include <unistd.h>
#include <vector>

/// The memory that rings and other signals share.
namespace barmap::contract {
namespace {

using arena_test = contract_test;

TEST_P(arena_test, it_gives_parts_and_takes_them_back) {
    device const gpu = device::open(0);
    arena const words(gpu, 1024, 512);
    expect_refusal([&] { (void)words.take_gpu(~std::size_t{0}); }, errc::out_of_range,
                   "make the arena larger");
    std::vector<arena::part> parts;
    for (unsigned i = 0; i < 8; ++i) {
        parts.push_back(words.take_gpu(i == 3 ? 100 : 128));
        EXPECT_EQ(parts.back().gpu_address() - parts.front().gpu_address(), i * 128u);
        EXPECT_EQ(parts.back().data() - parts.front().data(), i * 128);
        EXPECT_EQ(parts.back().window().data, parts.back().data());
    }
    expect_refusal([&] { (void)words.take_gpu(1); }, errc::out_of_range, "make the arena larger");
    expect_refusal([&] { (void)words.take_gpu(0); }, errc::invalid_argument, "greater than 0");
    // Free neighbours are one again, in whatever order they come back.
    std::byte* const second = parts[1].data();
    parts[1] = {};
    parts[3] = {};
    expect_refusal([&] { (void)words.take_gpu(256); }, errc::out_of_range, "make the arena larger");
    parts[2] = {};
    parts[1] = words.take_gpu(384);
    EXPECT_EQ(parts[1].data(), second);
    parts[1] = std::move(parts[4]); // frees what it had
    parts[4] = words.take_gpu(384);
    EXPECT_EQ(parts[4].data(), second);
    arena::part const host = words.take_host(500);
    EXPECT_EQ(host.size(), 500u);
    EXPECT_EQ(host.window().plan, nullptr);
    EXPECT_NE(host.gpu_address(), 0u);
    expect_refusal([&] { (void)words.take_host(1); }, errc::out_of_range, "make the arena larger");
    expect_refusal([&] { (void)arena(gpu, 0, 128).take_gpu(1); }, errc::out_of_range,
                   "make the arena larger");
}

TEST_P(arena_test, host_memory_is_refused_where_cuda_registers_none) {
    pins_only_its_own const refusing;
    device const gpu = device::open(0);
    refusal const seen = refusal_of([&] { (void)arena(gpu, 0, 128); });
    EXPECT_EQ(seen.code, std::error_code(cuda::error_not_supported, cuda_category()));
    EXPECT_NE(seen.text.find("it can have no rings to the CPU and no calls"), std::string::npos)
        << seen.text;
    EXPECT_NE(arena(gpu, 128, 0).take_gpu(128).gpu_address(), 0u);
}

TEST_P(arena_test, its_backend_can_be_given) {
    device const gpu = device::open(0);
    expect_refusal([&] { arena const none(gpu, 128, 0, "none"); }, errc::backend_absent, "none");
    arena const words(gpu, 128, 0, GetParam().backend);
    (void)words.take_gpu(128);
}

// In a child, the lock of an arena may be held by a thread that the child does not have.
TEST_P(arena_test, a_forked_child_gives_nothing_back) {
    constexpr std::size_t gaps = 4096;
    arena const words(device::open(0), 2 * gaps * arena::alignment, 0);
    std::vector<arena::part> parts;
    for (std::size_t i = 0; i < 2 * gaps; ++i)
        parts.push_back(words.take_gpu(1));
    for (std::size_t i = 0; i < gaps; ++i)
        parts[2 * i] = {};
    parts.pop_back(); // the last gap is the first that is large enough
    std::atomic<bool> stop{false};
    std::thread searching([&] { // under the lock, most of the time
        while (!stop)
            (void)words.take_gpu(2 * arena::alignment);
    });
    for (int i = 0; i < 20 && !testing::Test::HasFailure(); ++i)
        expect_exit(7, in_child(7, [&] {
                        ::alarm(60); // if it waits for the lock
                        parts[1] = {};
                    }));
    stop = true;
    searching.join();
}

BARMAP_OVER_KINDS_OF_MEMORY(arena_test);

} // namespace
} // namespace barmap::contract
