// SPDX-License-Identifier: MIT
#include "fake/channel_fixture.hpp"

#include <functional>
#include <tuple>

/// A channel waits for a word by methods of its own.
namespace barmap::fake {
namespace {

class semaphore_test : public channel_fixture {
protected:
    static constexpr std::uint64_t word_at = 0x100; ///< in the page of the semaphore

    [[nodiscard]] std::uint64_t word_address() const { return semaphore_address_ + word_at; }
    void write_word(std::uint32_t value) {
        __atomic_store_n(word(host_, word_at), value, __ATOMIC_RELEASE);
    }
    [[nodiscard]] words acquire(std::uint32_t value, std::uint32_t flags = 0) const {
        words result;
        add_acquire(result, word_address(), value, flags);
        return result;
    }
    /// Whether a channel is at a semaphore that does not come.
    [[nodiscard]] bool stays() {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return !gpu().idle() && semaphore() != payload_;
    }

    /// Another channel of the same engine becomes the fixture's.
    void make_second_channel() {
        abi::memory_alloc_parameters wanted = video_memory();
        note(allocate(abi::class_local_memory, device_, &wanted, sizeof wanted, &block_));
        block_address_ = map_dma(block_, block);
        block_view_ = map_whole(block_, block);
        make_bound_channel();
        ASSERT_EQ(first_refusal_, abi::ok);
        ASSERT_TRUE(wait_idle());
    }
    /// The second does its work while the first waits. @return how often it was kept from it
    std::uint64_t kept_while_first_waits(std::uint32_t flags) {
        make_all();
        EXPECT_TRUE(wait_idle());
        auto mine = std::tie(block_address_, block_view_, token_, put_);
        std::tuple const first(block_address_, block_view_, token_, put_);
        make_second_channel();
        std::tuple const second(block_address_, block_view_, token_, put_);
        gpu().stall();
        mine = first;
        write_word(0);
        submit(acquire(1, flags));
        mine = second;
        submit_with_semaphore();
        gpu().resume();
        EXPECT_TRUE(wait_semaphore());
        EXPECT_FALSE(gpu().idle());
        write_word(1);
        EXPECT_TRUE(wait_idle());
        expect_violations(0);
        return gpu().done().kept;
    }
};

TEST_F(semaphore_test, the_channel_waits_for_the_word) {
    for (std::uint32_t const flags : {0u, abi::semaphore_acquire_switch}) {
        make_all();
        write_word(6);
        submit_with_semaphore(acquire(7, flags));
        EXPECT_TRUE(stays());
        write_word(8); // past it, and yet not equal to it
        EXPECT_TRUE(stays());
        write_word(7);
        EXPECT_TRUE(wait_semaphore());
        EXPECT_TRUE(wait_idle());
        expect_violations(0);
    }
}

TEST_F(semaphore_test, what_came_before_it_is_done_meanwhile) {
    make_all();
    write_word(0);
    std::memset(block_view_ + data_at, 5, 64);
    words methods;
    add_copy(methods, block_address_ + data_at, block_address_ + data_at + 64, 64,
             commands::launch_pipelined);
    words const waits = acquire(1);
    methods.insert(methods.end(), waits.begin(), waits.end());
    submit(methods);
    EXPECT_TRUE(wait([&] {
        return __atomic_load_n(word(block_view_, data_at + 64), __ATOMIC_ACQUIRE) == 0x05050505;
    }));
    EXPECT_FALSE(gpu().idle());
    write_word(1);
    EXPECT_TRUE(wait_idle());
    expect_violations(0);
}

TEST_F(semaphore_test, another_channel_of_the_engine_waits_for_its_slice_unless_it_is_given) {
    EXPECT_GT(kept_while_first_waits(0), 0u);
    EXPECT_EQ(kept_while_first_waits(abi::semaphore_acquire_switch), 0u);
}

TEST_F(semaphore_test, an_address_that_is_not_mapped_is_a_fault) {
    make_all();
    words methods;
    add_acquire(methods, 0x1000, 0);
    submit(methods);
    EXPECT_EQ(wait_error(), gpu::channel::info_mmu_fault);
    make_all();
    write_word(0);
    submit(acquire(1));
    EXPECT_TRUE(stays());
    EXPECT_EQ(unmap_dma(0x5001, semaphore_address_), abi::ok);
    EXPECT_EQ(wait_error(), gpu::channel::info_mmu_fault);
    expect_violations(0);
}

TEST_F(semaphore_test, a_release_writes_the_word_and_the_channel_goes_on) {
    make_all();
    write_word(7);
    words methods = acquire(42);
    methods.back() = abi::semaphore_release;
    submit_with_semaphore(methods);
    EXPECT_TRUE(wait_semaphore());
    EXPECT_EQ(__atomic_load_n(word(host_, word_at), __ATOMIC_ACQUIRE), 42u);
    expect_violations(0);
}

TEST_F(semaphore_test, other_operations_stop_the_channel) {
    constexpr std::uint32_t strict_geq = 2, circular_geq = 3, release_of_64_bits = 1u << 24 | 1;
    std::function<void(words&)> const all[] = {
        [](words& to) { to.back() = strict_geq; },
        [](words& to) { to.back() = release_of_64_bits; },
        [](words& to) { to.back() = circular_geq; },
        [](words& to) { to.back() = 1u << 24; }, // of 64 bits
        [](words& to) { to[1] += 2; },           // not aligned
        [](words& to) { to[4] = 1; },            // a payload of 64 bits
        [](words& to) { to[0] += 0x74 / 4 - 0x5c / 4; },
    };
    for (auto const& spoil : all) {
        make_all();
        words methods = acquire(0);
        spoil(methods);
        submit(methods);
        EXPECT_EQ(wait_error(), gpu::channel::info_engine_exception);
        expect_violations(1);
    }
}

} // namespace
} // namespace barmap::fake
