// SPDX-License-Identifier: MIT
#include "contract/numbered.hpp"
#include "shared/in_child.hpp"

#include <barmap/arena.hpp>
#include <barmap/ring.hpp>

#include <cstdint>
#include <optional>

/// Rings that a forked child inherits: it may drop them, and tells the kernel nothing.
namespace barmap::contract {
namespace {

using ring_child_test = contract_test;

TEST_P(ring_child_test, a_child_that_drops_a_ring_returns_no_credits) {
    device const gpu = device::open(0);
    arena const words(gpu, mib, mib); // stays, so that the word can be read afterwards
    std::optional<ring_to_cpu<std::uint64_t>> ring(std::in_place, words, 8);
    auto const handle = ring->handle_for_thread();
    auto const returned = [&] { return gpu::load_acquire(handle.credits + gpu::ring_words::read); };
    ASSERT_EQ(gpu::push(handle, std::uint64_t{5}, std::uint64_t{0}), gpu::status::ok);
    EXPECT_EQ(ring->try_pop(), 5u);
    ASSERT_EQ(returned(), 0u) << "credits go back a quarter of the ring at a time";
    expect_exit(7, in_child(7, [&] { ring.reset(); }));
    EXPECT_EQ(returned(), 0u) << "the slot is still read by this process";
    ring.reset();
    EXPECT_EQ(returned(), 1u) << "this process returns it";
}

TEST_P(ring_child_test, a_child_that_drops_a_ring_leaves_its_messages) {
    device const gpu = device::open(0);
    arena const words(gpu, mib, mib);
    std::optional<ring_to_gpu<std::uint64_t>> ring(std::in_place, words, 8);
    gpu::consumer<std::uint64_t> kernel(ring->handle_for_thread());
    ASSERT_TRUE(ring->try_push(6));
    ring->flush();
    expect_exit(7, in_child(7, [&] { ring.reset(); }));
    std::uint64_t message = 0;
    EXPECT_EQ(kernel.pop(message, std::uint64_t{0}), gpu::status::ok);
    EXPECT_EQ(message, 6u);
}

BARMAP_OVER_KINDS_OF_MEMORY(ring_child_test);

} // namespace
} // namespace barmap::contract
