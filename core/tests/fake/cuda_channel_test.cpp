// SPDX-License-Identifier: MIT
#include "fake/cuda_channel_fixture.hpp"

#include <algorithm>
#include <functional>

/// A channel in CUDA's address space reaches what CUDA has there, as long as it is there.
namespace barmap::fake {
namespace {

class cuda_channel_test : public cuda_channel_fixture {
protected:
    /// Copies to the GPU's memory and back from it.
    void expect_reached(std::uint64_t address, std::uint32_t bytes) {
        for (std::size_t k = 0; k < bytes; ++k)
            host_data()[k] = static_cast<std::byte>(address + k * 7 + k / 251);
        run(one_copy(host_address_, address, bytes));
        std::byte* const back = host_data() + 0x40000;
        std::memset(back, 0, bytes);
        run(one_copy(address, host_address_ + 0x40000, bytes));
        EXPECT_EQ(std::memcmp(back, host_data(), bytes), 0);
    }
    /// A copy from there is a fault, and one to there.
    void expect_fault(std::uint64_t address, std::uint32_t bytes) {
        make_registered();
        EXPECT_EQ(error_of(one_copy(address, host_address_, bytes)), gpu::channel::info_mmu_fault);
        EXPECT_EQ(retire(), abi::ok);
        make_registered();
        EXPECT_EQ(error_of(one_copy(host_address_, address, bytes)), gpu::channel::info_mmu_fault);
        EXPECT_EQ(retire(), abi::ok);
        expect_violations(0);
    }
};

TEST_F(cuda_channel_test, every_pointer_of_cuda_is_an_address) {
    make_registered();
    expect_reached(address_ + data_at + 3, 5000);

    CUdeviceptr later = 0, pooled = 0;
    ASSERT_EQ(cu().mem_alloc(&later, 300'000), cuda::success);
    expect_reached(later + 1, 200'000);
    ASSERT_EQ(cu().mem_alloc_async(&pooled, 100'000, nullptr), cuda::success);
    ASSERT_EQ(cu().ctx_synchronize(), cuda::success);
    expect_reached(pooled + 5, 50'000);

    void* pinned = nullptr;
    ASSERT_EQ(cu().mem_host_alloc(&pinned, 4096, 0), cuda::success);
    expect_reached(address_of(pinned) + 7, 4000);
    std::vector<std::byte> registered(10'000);
    ASSERT_EQ(cu().mem_host_register(registered.data(), registered.size(), 0), cuda::success);
    expect_reached(address_of(registered.data()) + 1, 9'000);

    EXPECT_EQ(cu().mem_host_unregister(registered.data()), cuda::success);
    EXPECT_EQ(cu().mem_free_host(pinned), cuda::success);
    EXPECT_EQ(cu().mem_free_async(pooled, nullptr), cuda::success);
    EXPECT_EQ(cu().mem_free(later), cuda::success);
    EXPECT_EQ(retire(), abi::ok);
    expect_violations(0);
}

TEST_F(cuda_channel_test, chunks_of_virtual_memory_are_contiguous) {
    CUmemAllocationProp wanted{};
    wanted.type = cuda::allocation_type_pinned;
    wanted.location = {cuda::location_type_device, 0};
    CUdeviceptr range = 0;
    CUmemGenericAllocationHandle chunks[2]{};
    ASSERT_EQ(cu().mem_address_reserve(&range, 2 * block, 0, 0, 0), cuda::success);
    for (unsigned k = 0; k < 2; ++k) {
        ASSERT_EQ(cu().mem_create(&chunks[k], block, &wanted, 0), cuda::success);
        ASSERT_EQ(cu().mem_map(range + k * block, block, 0, chunks[k], 0), cuda::success);
    }
    expect_fault(range, 64); // nobody has access
    CUmemAccessDesc const access{wanted.location, cuda::access_read_write};
    ASSERT_EQ(cu().mem_set_access(range, 2 * block, &access, 1), cuda::success);
    make_registered();
    expect_reached(range + block - 1000, 5000);
    EXPECT_EQ(retire(), abi::ok);
    ASSERT_EQ(cu().mem_unmap(range + block, block), cuda::success);
    expect_fault(range + block - 1000, 5000);
    ASSERT_EQ(cu().mem_unmap(range, block), cuda::success);
    for (auto const each : chunks)
        ASSERT_EQ(cu().mem_release(each), cuda::success);
    ASSERT_EQ(cu().mem_address_free(range, 2 * block), cuda::success);
    expect_violations(0);
}

TEST_F(cuda_channel_test, what_is_not_mapped_there_is_a_fault) {
    CUdeviceptr gone = 0, managed = 0, of_other_gpu = 0;
    ASSERT_EQ(cu().mem_alloc(&gone, block), cuda::success);
    ASSERT_EQ(cu().mem_free(gone), cuda::success);
    expect_fault(gone, 64);
    expect_fault(0, 64);
    expect_fault(0x1000, 64);
    ASSERT_EQ(cu().mem_alloc_managed(&managed, 4096, cuda::mem_attach_global), cuda::success);
    expect_fault(managed, 64);
    EXPECT_EQ(cu().mem_free(managed), cuda::success);
    std::vector<std::byte> ordinary(4096);
    expect_fault(address_of(ordinary.data()), 64);
    ASSERT_EQ(cu().mem_host_register(ordinary.data(), 4096, 0), cuda::success);
    expect_fault(address_of(ordinary.data()) + 4090, 7);
    EXPECT_EQ(cu().mem_host_unregister(ordinary.data()), cuda::success);
    expect_fault(address_of(ordinary.data()), 64);

    CUcontext first = nullptr, second = nullptr;
    ASSERT_EQ(cu().ctx_get_current(&first), cuda::success);
    ASSERT_EQ(cu().primary_ctx_retain(&second, 1), cuda::success);
    ASSERT_EQ(cu().ctx_set_current(second), cuda::success);
    ASSERT_EQ(cu().mem_alloc(&of_other_gpu, block), cuda::success);
    ASSERT_EQ(cu().mem_host_register(ordinary.data(), 4096, 0), cuda::success);
    expect_fault(of_other_gpu, 64);
    expect_fault(address_of(ordinary.data()), 64);
    EXPECT_EQ(cu().mem_host_unregister(ordinary.data()), cuda::success);
    EXPECT_EQ(cu().mem_free(of_other_gpu), cuda::success);
    EXPECT_EQ(cu().ctx_set_current(first), cuda::success);
    EXPECT_EQ(cu().primary_ctx_release(1), cuda::success);
}

TEST_F(cuda_channel_test, a_fault_that_uvm_does_not_take_is_silent) {
    make_in(space_of_cuda);
    begin();
    run(one_copy(block_address_ + data_at, host_address_, 64));
    auto const before = semaphore();
    submit_with_semaphore(one_copy(0, host_address_, 64));
    EXPECT_TRUE(wait_idle());
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    EXPECT_EQ(semaphore(), before);
    abi::notification seen{};
    std::memcpy(&seen, host_ + notifier_at, sizeof seen);
    EXPECT_EQ(seen.status, 0);
    EXPECT_EQ(enrol(), abi::ok) << "too late";
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    std::memcpy(&seen, host_ + notifier_at, sizeof seen);
    EXPECT_EQ(seen.status, 0);
    EXPECT_EQ(retire(), abi::ok);
    expect_violations(0);
}

TEST_F(cuda_channel_test, entries_reach_beyond_2_to_the_40_only_from_a_base_on) {
    make_in(space_of_cuda);
    ASSERT_EQ(enrol(), abi::ok);
    if (block_address_ >> 40 == 0) { // as in an emulator
        EXPECT_EQ(retire(), abi::ok);
        GTEST_SKIP() << "this process has its memory below 2^40";
    }
    submit(bind()); // at an address whose upper bits are missing
    EXPECT_EQ(wait_error(), gpu::channel::info_mmu_fault);
    EXPECT_EQ(retire(), abi::ok);
    std::uint64_t const base = commands::gpfifo_extended_base(block_address_);
    expect_violations(0);
    constexpr std::uint64_t one = 1;
    for (std::uint64_t const wrong :
         {base ^ one << 34, base ^ one << 32, base ^ one << 33 ^ one << 34, base | one,
          base | one << 7, base | one << 25, base | one << 40, base | one << 63}) {
        make_in(space_of_cuda);
        ASSERT_EQ(enrol(), abi::ok);
        write_entry(wrong);
        ring();
        EXPECT_EQ(wait_error(), gpu::channel::info_engine_exception) << wrong;
        expect_violations(1);
    }
    for (std::string_view const older : {"TU102", "GA100", "AD102"}) {
        make_in(space_of_cuda, {.chip = older});
        ASSERT_EQ(enrol(), abi::ok);
        write_entry(base);
        ring();
        EXPECT_EQ(wait_error(), gpu::channel::info_engine_exception);
        expect_violations(1);
    }
}

TEST_F(cuda_channel_test, a_semaphore_may_be_in_either_memory) {
    make_registered();
    CUdeviceptr word = 0;
    CUstream stream = nullptr;
    ASSERT_EQ(cu().mem_alloc(&word, 64), cuda::success);
    ASSERT_EQ(cu().stream_create(&stream, 1), cuda::success);
    ASSERT_EQ(cu().memset_d8(word, 0, 64), cuda::success);
    // A stream waits for the channel, and the channel for the stream.
    ASSERT_EQ(cu().stream_wait_value32(stream, word + 4, 9, cuda::wait_value_geq), cuda::success);
    ASSERT_EQ(cu().stream_write_value32(stream, word + 8, 5, 0), cuda::success);
    words methods;
    add(methods, commands::method_set_semaphore, {high(word + 4), low(word + 4), 9});
    add(methods, commands::method_launch_dma,
        {commands::launch_flush | commands::launch_semaphore});
    add_acquire(methods, word + 8, 5);
    add(methods, commands::method_set_semaphore,
        {high(semaphore_address_), low(semaphore_address_), 0});
    run(methods);
    EXPECT_EQ(cu().stream_synchronize(stream), cuda::success);
    EXPECT_EQ(cu().stream_destroy(stream), cuda::success);
    EXPECT_EQ(cu().mem_free(word), cuda::success);
    EXPECT_EQ(retire(), abi::ok);
    expect_violations(0);
}

TEST_F(cuda_channel_test, engines_of_graphics_are_kept_from_it_until_it_is_registered) {
    make_in(space_of_cuda);
    EXPECT_EQ(free(device_, group_), abi::ok);
    constexpr std::uint32_t copy0 = abi::engine_type_copy0;
    abi::channel_group_parameters group{0, 0, space_, copy0, 0};
    ASSERT_EQ(allocate(abi::class_channel_group, device_, &group, sizeof group, &group_), abi::ok);
    abi::channel_parameters wanted = channel();
    wanted.engine_type = copy0;
    ASSERT_EQ(allocate(rm::classes_of("GH100").channel, group_, &wanted, sizeof wanted, &channel_),
              abi::ok);
    abi::schedule_parameters schedule{1, 0, 0};
    EXPECT_EQ(control(channel_, abi::cmd_schedule, schedule), rm::err_invalid_state);
    ASSERT_EQ(enrol(), abi::ok);
    EXPECT_EQ(control(channel_, abi::cmd_schedule, schedule), abi::ok);
    EXPECT_EQ(retire(), abi::ok);
    expect_violations(0);
}

TEST_F(cuda_channel_test, nothing_of_ours_is_mapped_there) {
    make_in(space_of_cuda);
    abi::virtual_memory_parameters range{0, 0, space_};
    abi::handle made = 0;
    EXPECT_EQ(allocate(abi::class_virtual_memory, device_, &range, sizeof range, &made),
              rm::err_invalid_object_parent);
    expect_violations(1);
}

} // namespace
} // namespace barmap::fake
