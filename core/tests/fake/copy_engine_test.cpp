// SPDX-License-Identifier: MIT
#include "fake/copy_engine.hpp"

#include "fake/channel_fixture.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

/// The fake copy engine executes what it knows, as freely as a real one may, and nothing else.
namespace barmap::fake {
namespace {

using namespace std::chrono_literals;

class copy_engine_test : public channel_fixture {
protected:
    std::byte* data() { return block_view_ + data_at; }
    std::uint64_t data_address() const { return block_address_ + data_at; }

    static void fill(std::byte* at, std::size_t bytes, unsigned seed) {
        for (std::size_t k = 0; k < bytes; ++k)
            at[k] = static_cast<std::byte>(seed + k * 7 + k / 251);
    }
    /// A submission that is to stop the channel, and one after it that is to be ignored.
    void expect_stop(words const& methods, std::uint32_t info) {
        auto const before = semaphore();
        submit_with_semaphore(methods);
        EXPECT_EQ(wait_error(), info);
        submit_with_semaphore();
        EXPECT_TRUE(wait_idle());
        EXPECT_EQ(semaphore(), before);
    }
};

TEST_F(copy_engine_test, copies_in_both_directions) {
    make_all();
    // An engine may find an entry before the doorbell that tells of it, and hear two as one.
    ASSERT_TRUE(wait_idle());
    fill(data(), 5000, 1);
    run(one_copy(data_address(), host_address_ + 3, 5000));
    EXPECT_EQ(std::memcmp(host_data() + 3, data(), 5000), 0);
    ASSERT_TRUE(wait_idle());
    fill(host_data(), 200'000, 2);
    run(one_copy(host_address_ + 1, data_address(), 200'000));
    EXPECT_EQ(std::memcmp(host_data() + 1, data(), 200'000), 0);
    ASSERT_TRUE(wait_idle());
    auto const done = gpu().done();
    EXPECT_EQ(done.bytes, 205'000u);
    EXPECT_EQ(done.launches, 4u);
    EXPECT_EQ(done.semaphores, 2u);
    EXPECT_EQ(done.entries, 3u);
    EXPECT_EQ(done.doorbells, 3u);
    EXPECT_EQ(done.engine_type, engine);
    expect_violations(0);
}

TEST_F(copy_engine_test, reaches_the_memory_of_cuda) {
    make_all();
    abi::handle memory = 0;
    ASSERT_EQ(duplicate(&memory), abi::ok);
    std::uint64_t const at = map_dma(memory, block);
    ASSERT_EQ(cu().memset_d8(address_, 7, block), cuda::success);
    run(one_copy(at + 100, host_address_, 1000));
    EXPECT_TRUE(std::all_of(host_data(), host_data() + 1000,
                            [](std::byte each) { return each == std::byte{7}; }));
    fill(host_data(), 1000, 3);
    run(one_copy(host_address_, at + block - 1000, 1000));
    std::byte seen[1000];
    ASSERT_EQ(cu().memcpy_dtoh(seen, address_ + block - 1000, 1000), cuda::success);
    EXPECT_EQ(std::memcmp(seen, host_data(), 1000), 0);
    EXPECT_EQ(unmap_dma(memory, at), abi::ok);
    EXPECT_EQ(free(device_, memory), abi::ok);
    expect_violations(0);
}

TEST_F(copy_engine_test, executes_a_batch_of_pieces) {
    make_all();
    fill(data(), 100'000, 4);
    words batch;
    constexpr std::uint32_t pieces = 100, piece = 777;
    for (std::uint32_t k = 0; k < pieces; ++k)
        add_copy(batch, data_address() + k * piece, host_address_ + (pieces - 1 - k) * 1024, piece,
                 k == 0 ? commands::launch_non_pipelined : commands::launch_pipelined);
    run(batch);
    for (std::uint32_t k = 0; k < pieces; ++k)
        EXPECT_EQ(std::memcmp(data() + k * piece, host_data() + (pieces - 1 - k) * 1024, piece), 0);
    EXPECT_EQ(gpu().done().launches, pieces + 1);
    expect_violations(0);
}

TEST_F(copy_engine_test, the_gpfifo_wraps) {
    make_all();
    for (unsigned k = 0; k < 5 * gpfifo_entries; ++k) {
        fill(data(), 64, k);
        run(one_copy(data_address(), host_address_, 64));
        ASSERT_EQ(std::memcmp(data(), host_data(), 64), 0) << k;
    }
    expect_violations(0);
}

TEST_F(copy_engine_test, an_immediate_launch_is_a_launch) {
    make_all();
    fill(data(), 64, 5);
    words methods = one_copy(data_address(), host_address_, 64);
    methods.resize(methods.size() - 2);
    constexpr std::uint32_t flags = commands::launch_non_pipelined | commands::launch_linear;
    methods.push_back(4u << 29 | flags << 16 | commands::copy_subchannel << 13 |
                      commands::method_launch_dma >> 2);
    run(methods);
    EXPECT_EQ(std::memcmp(data(), host_data(), 64), 0);
    expect_violations(0);
}

TEST_F(copy_engine_test, pipelined_copies_have_no_order) {
    make_all();
    for (std::uint32_t const second :
         {commands::launch_non_pipelined, commands::launch_pipelined}) {
        bool const ordered = second == commands::launch_non_pipelined;
        fill(data(), 256, 6);
        words methods = one_copy(data_address(), data_address() + 0x1000, 256);
        add_copy(methods, data_address() + 0x1000, data_address() + 0x2000, 256, second);
        std::memset(data() + 0x1000, 0, 256);
        run(methods);
        EXPECT_EQ(std::memcmp(data(), data() + 0x1000, 256), 0);
        EXPECT_EQ(std::memcmp(data(), data() + 0x2000, 256) == 0, ordered);
    }
    expect_violations(0);
}

TEST_F(copy_engine_test, a_piece_of_a_submission_is_done_without_the_rest) {
    make_all();
    fill(data(), 256, 7);
    submit(one_copy(data_address(), data_address() + 0x1000, 256, commands::launch_pipelined));
    EXPECT_TRUE(wait_idle());
    EXPECT_EQ(std::memcmp(data(), data() + 0x1000, 256), 0);
    expect_violations(0);
}

TEST_F(copy_engine_test, bytes_for_the_host_come_with_the_next_flush) {
    make_all();
    gpu().take_unflushed_after(24h);
    fill(data(), 256, 8);
    words methods = one_copy(data_address(), host_address_, 256);
    add_semaphore(methods, 0);
    submit(methods);
    ASSERT_TRUE(wait_semaphore());
    EXPECT_NE(std::memcmp(host_data(), data(), 256), 0);
    EXPECT_FALSE(gpu().idle());
    run({});
    EXPECT_EQ(std::memcmp(host_data(), data(), 256), 0);
    expect_violations(0);
}

TEST_F(copy_engine_test, bytes_for_the_host_come_some_time_without_a_flush) {
    make_all();
    fill(data(), 256, 9);
    submit(one_copy(data_address(), host_address_, 256));
    EXPECT_TRUE(wait_idle());
    EXPECT_EQ(std::memcmp(host_data(), data(), 256), 0);
    expect_violations(0);
}

// Unmapping waits for what is under way, so that nothing arrives after it.
TEST_F(copy_engine_test, nothing_comes_after_unmapping) {
    make_all();
    gpu().take_unflushed_after(24h);
    fill(data(), 256, 10);
    words methods = one_copy(data_address(), host_address_, 256);
    add_semaphore(methods, 0);
    submit(methods);
    ASSERT_TRUE(wait_semaphore());
    ASSERT_EQ(unmap_dma(0x5003, host_address_), abi::ok);
    std::memset(host_data(), 1, 256);
    run({});
    EXPECT_EQ(host_data()[0], std::byte{1});
    EXPECT_EQ(std::memcmp(host_data(), host_data() + 1, 255), 0);
    expect_violations(0);
}

struct mistake {
    char const* name;
    std::function<void(std::vector<std::uint32_t>&)> spoil; ///< of a right copy
};

TEST_F(copy_engine_test, unknown_methods_stop_the_channel) {
    using list = std::vector<std::uint32_t>;
    auto const flag = [](std::uint32_t bits) { return [bits](list& to) { to.back() ^= bits; }; };
    auto const method = [](std::uint32_t which, std::uint32_t value) {
        return [=](list& to) { add(to, which, {value}); };
    };
    mistake const all[] = {
        {"a method of another number", method(0x250, 0)},
        {"pitch", method(0x410, 64)},
        {"another object", method(commands::method_set_object, 0xc0b5)},
        {"line length 0", [](list& to) { to[6] = 0; }},
        {"transfer type 3", flag(3 ^ commands::launch_non_pipelined)},
        {"four words of a semaphore", flag(2u << 3)},
        {"a source that is not linear", flag(1u << 7)},
        {"a target that is not linear", flag(1u << 8)},
        {"an unknown flag", flag(1u << 26)},
        {"another subchannel", [](list& to) { to[0] |= 1u << 13; }},
        {"another kind of header", [](list& to) { to[0] ^= 2u << 29; }},
        {"a header without values", [](list& to) { to.push_back(commands::methods(4, 0x300, 0)); }},
        {"a header with too many values",
         [](list& to) { to.push_back(commands::methods(4, 0x300, 900)); }},
        {"no header", [](list& to) { to.push_back(0); }},
        {"a semaphore at an odd address",
         [](list& to) { add(to, commands::method_set_semaphore + 4, {2}); }},
    };
    make_all();
    for (mistake const& each : all) {
        SCOPED_TRACE(each.name);
        make_all();
        words methods = one_copy(data_address(), host_address_, 64);
        each.spoil(methods);
        expect_stop(methods, gpu::channel::info_engine_exception);
        expect_violations(1);
    }
}

TEST_F(copy_engine_test, methods_need_a_bound_object) {
    boot();
    make_parts();
    make_channel();
    expect_stop(one_copy(data_address(), host_address_, 64), gpu::channel::info_engine_exception);
    expect_violations(1);
}

TEST_F(copy_engine_test, unknown_entries_stop_the_channel) {
    constexpr std::uint64_t one = 1;
    for (std::uint64_t const bits : {one, one << 1, one << 40, one << 41, one << 63}) {
        make_all();
        // The same methods once more, but for the entry's other bits.
        write_entry(bits | commands::gpfifo_entry(block_address_ + methods_at,
                                                  static_cast<std::uint32_t>(bind().size())));
        ring();
        EXPECT_EQ(wait_error(), gpu::channel::info_engine_exception) << bits;
        expect_violations(1);
    }
    for (std::uint64_t const entry :
         {std::uint64_t{0}, std::uint64_t{commands::gpfifo_entry(block_address_, 0)}}) {
        make_all();
        write_entry(entry);
        ring();
        EXPECT_EQ(wait_error(), gpu::channel::info_engine_exception) << entry;
        expect_violations(1);
    }
    make_all();
    for (unsigned k = 1; k < gpfifo_entries; ++k)
        std::memcpy(block_view_ + k * 8, block_view_, 8);
    put_ = gpfifo_entries;
    ring();
    EXPECT_EQ(wait_error(), gpu::channel::info_engine_exception) << "GP_PUT";
    expect_violations(1);
}

TEST_F(copy_engine_test, addresses_that_are_not_mapped_are_faults) {
    make_all();
    std::uint64_t const host_size = host_bytes - host_data_at;
    for (auto const& methods :
         {one_copy(0, host_address_, 64), one_copy(data_address(), host_address_ + host_size, 64),
          one_copy(data_address(), host_address_ + host_size - 63, 64),
          one_copy(block_address_ + block - 10, host_address_, 11),
          one_copy(data_address(), host_address_ - 1, 64)}) {
        make_all();
        expect_stop(methods, gpu::channel::info_mmu_fault);
    }
    make_all();
    std::uint64_t const part = map_dma(block_, page);
    expect_stop(one_copy(part + page - 10, host_address_, 11), gpu::channel::info_mmu_fault);
    make_all();
    words methods;
    add(methods, commands::method_set_semaphore, {0, 0});
    expect_stop(methods, gpu::channel::info_mmu_fault);
    make_all();
    write_entry(commands::gpfifo_entry(block_address_ + block, 4));
    ring();
    EXPECT_EQ(wait_error(), gpu::channel::info_mmu_fault);
    expect_violations(0);
}

TEST_F(copy_engine_test, what_was_unmapped_is_a_fault) {
    make_all();
    ASSERT_EQ(unmap_dma(0x5003, host_address_), abi::ok);
    expect_stop(one_copy(data_address(), host_address_, 64), gpu::channel::info_mmu_fault);
    expect_violations(0);
}

TEST_F(copy_engine_test, pages_that_have_gone_are_a_fault) {
    make_all();
    void* const spare =
        ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_EQ(pin_host(spare, page, 0x5009), abi::ok);
    std::uint64_t const at = map_dma(0x5009, page);
    ::mprotect(spare, page, PROT_NONE); // in place of munmap, so that nobody gets the addresses
    expect_stop(one_copy(at, data_address(), 64), gpu::channel::info_mmu_fault);
    make_bound_channel();
    expect_stop(one_copy(data_address(), at, 64), gpu::channel::info_mmu_fault);
    make_bound_channel();
    words methods;
    add(methods, commands::method_set_semaphore, {high(at), low(at)});
    expect_stop(methods, gpu::channel::info_mmu_fault);
    ::munmap(spare, page);
    expect_violations(0);
}

TEST_F(copy_engine_test, can_be_stalled) {
    make_all();
    ASSERT_TRUE(wait_idle());
    gpu().stall();
    submit_with_semaphore();
    auto const before = gpu().done().entries;
    EXPECT_TRUE(wait([&] { return gpu().done().doorbells >= 2; }));
    EXPECT_EQ(gpu().done().entries, before);
    EXPECT_FALSE(gpu().idle());
    EXPECT_NE(semaphore(), payload_);
    gpu().resume();
    EXPECT_TRUE(wait_semaphore());
    expect_violations(0);
}

TEST_F(copy_engine_test, can_lose_doorbells) {
    make_all();
    ASSERT_TRUE(wait_idle());
    gpu().lose_doorbells(1);
    submit_with_semaphore();
    EXPECT_TRUE(wait_idle());
    EXPECT_NE(semaphore(), payload_);
    ring();
    EXPECT_TRUE(wait_semaphore());
    expect_violations(0);
}

TEST_F(copy_engine_test, can_be_late) {
    make_all();
    ASSERT_TRUE(wait_idle());
    gpu().delay_next(24h);
    auto const before = gpu().done().entries;
    submit_with_semaphore();
    EXPECT_TRUE(wait([&] { return gpu().done().doorbells >= 2; }));
    EXPECT_EQ(gpu().done().entries, before);
    EXPECT_FALSE(gpu().idle());
    make_bound_channel(); // another one does not wait
    gpu().delay_next(1ms);
    run({});
    EXPECT_EQ(gpu().done().entries, before + 2);
    expect_violations(0);
}

TEST_F(copy_engine_test, can_fail) {
    make_all();
    ASSERT_TRUE(wait_idle());
    gpu().fail_next();
    expect_stop(one_copy(data_address(), host_address_, 64), gpu::channel::info_mmu_fault);
    make_bound_channel();
    ASSERT_TRUE(wait_idle());
    gpu().fail_next(79);
    expect_stop({}, 79);
    expect_violations(0);
}

TEST_F(copy_engine_test, doorbells_need_a_scheduled_channel) {
    make_all();
    EXPECT_TRUE(wait_idle());
    ASSERT_EQ(free(device_, group_), abi::ok);
    make_channel(false);
    ring();
    EXPECT_TRUE(wait_idle());
    expect_violations(1);
    ASSERT_EQ(free(device_, group_), abi::ok);
    ring(); // the GPU may have seen it too late
    EXPECT_TRUE(wait_idle());
    expect_violations(0);
    token_ -= 1;
    ring();
    EXPECT_TRUE(wait_idle());
    expect_violations(1);
}

} // namespace
} // namespace barmap::fake
