// SPDX-License-Identifier: MIT
#include "driver.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <sys/mman.h>
#include <thread>
#include <vector>

/// Calls of several threads that free what others use: they get errors, and nothing crashes.
namespace barmap::sim_test {
namespace {

using namespace barmap::cuda;
using namespace std::chrono_literals;

constexpr std::size_t size = 4 << 20;

CUdeviceptr number_of(void const* host) {
    return reinterpret_cast<CUdeviceptr>(host);
}

/// Memory that a call frees.
struct victim {
    CUdeviceptr address = 0;
    std::function<CUresult()> free;
    std::function<void()> clean_up = [] {};
};

victim of_cuda_mem_alloc() {
    CUdeviceptr const there = allocate(size);
    return {there, [=] { return cu().mem_free(there); }};
}

victim of_a_shared_block() {
    CUdeviceptr const there = allocate(4096);
    return {there, [=] { return cu().mem_free(there); }};
}

victim managed() {
    CUdeviceptr there = 0;
    EXPECT_EQ(cu().mem_alloc_managed(&there, size, 1), success);
    return {there, [=] { return cu().mem_free(there); }};
}

victim of_the_pool() {
    CUdeviceptr there = 0;
    EXPECT_EQ(cu().mem_alloc_async(&there, size, nullptr), success);
    EXPECT_EQ(cu().stream_synchronize(nullptr), success);
    return {there, [=] { return cu().mem_free(there); }};
}

victim pinned() {
    void* there = nullptr;
    EXPECT_EQ(cu().mem_host_alloc(&there, size, 0), success);
    return {number_of(there), [=] { return cu().mem_free_host(there); }};
}

victim registered() {
    void* const there =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_EQ(cu().mem_host_register(there, size, 0), success);
    return {number_of(there), [=] { return cu().mem_host_unregister(there); },
            [=] { munmap(there, size); }};
}

victim virtual_memory() {
    CUmemAllocationProp properties{};
    properties.type = allocation_type_pinned;
    properties.location = {location_type_device, 0};
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr there = 0;
    EXPECT_EQ(cu().mem_create(&handle, size, &properties, 0), success);
    EXPECT_EQ(cu().mem_address_reserve(&there, size, 0, 0, 0), success);
    EXPECT_EQ(cu().mem_map(there, size, 0, handle, 0), success);
    CUmemAccessDesc const access{{location_type_device, 0}, access_read_write};
    EXPECT_EQ(cu().mem_set_access(there, size, &access, 1), success);
    EXPECT_EQ(cu().mem_release(handle), success);
    return {there, [=] { return cu().mem_unmap(there, size); },
            [=] { EXPECT_EQ(cu().mem_address_free(there, size), success); }};
}

constexpr std::array kinds{of_cuda_mem_alloc, of_a_shared_block, managed, of_the_pool, pinned,
                           registered,        virtual_memory};

class sim_race : public with_context {
protected:
    void SetUp() override {
        with_context::SetUp();
        ASSERT_EQ(cu().stream_create(&stream_, 1), success);
        ASSERT_EQ(cu().mem_host_alloc(&host_, size, 0), success);
        void* gate = nullptr;
        ASSERT_EQ(cu().mem_host_alloc(&gate, 64, 0), success);
        gate_ = static_cast<std::uint32_t*>(gate);
    }
    void TearDown() override {
        EXPECT_EQ(cu().stream_destroy(stream_), success);
        EXPECT_EQ(cu().mem_free_host(host_), success);
        EXPECT_EQ(cu().mem_free_host(gate_), success);
        with_context::TearDown();
    }
    /// The stream comes no further until the gate is opened.
    void close_gate() {
        std::atomic_ref(*gate_).store(0);
        ASSERT_EQ(cu().stream_wait_value32(stream_, number_of(gate_), 1, wait_value_eq), success);
    }
    void open_gate() { std::atomic_ref(*gate_).store(1); }
    [[nodiscard]] std::future<CUresult> on_a_thread(std::function<CUresult()> const& action) {
        return std::async(std::launch::async, [this, action] {
            EXPECT_EQ(cu().ctx_set_current(context_), success);
            return action();
        });
    }
    /// Whether the calls come to fail. A call that still succeeds is work of the stream.
    [[nodiscard]] static bool is_refused_in_the_end(std::function<CUresult()> const& call) {
        auto const until = std::chrono::steady_clock::now() + 20s;
        while (std::chrono::steady_clock::now() < until) {
            CUresult const result = call();
            if (result == error_invalid_value)
                return true;
            EXPECT_EQ(result, success);
            std::this_thread::sleep_for(1ms);
        }
        return false;
    }

    CUstream stream_ = nullptr;
    void* host_ = nullptr;
    std::uint32_t* gate_ = nullptr;
};

// Freeing waits for the work in flight, and new work is refused meanwhile.
TEST_F(sim_race, memory_that_is_being_freed_takes_no_new_work) {
    CUdeviceptr const host = number_of(host_);
    for (auto const make : kinds) {
        victim const memory = make();
        CUdeviceptr const there = memory.address;
        std::vector<std::function<CUresult()>> const calls{
            [&] { return cu().memset_d32_async(there, 7, 1024, stream_); },
            [&] { return cu().memcpy_htod_async(there, host_, 4096, stream_); },
            [&] { return cu().memcpy_dtoh_async(host_, there, 4096, stream_); },
            [&] {
                CUdeviceptr to = there, from = host;
                std::size_t bytes = 4096, first = 0, failed = 0;
                CUmemcpyAttributes how{};
                how.srcAccessOrder = source_order_any;
                return cu().memcpy_batch_async(&to, &from, &bytes, 1, &how, &first, 1, &failed,
                                               stream_);
            }};
        close_gate();
        for (auto const& call : calls)
            EXPECT_EQ(call(), success);
        auto freed = on_a_thread(memory.free);
        EXPECT_TRUE(is_refused_in_the_end(calls[0]));
        EXPECT_EQ(calls[1](), error_invalid_value);
        EXPECT_EQ(calls[2](), error_invalid_value);
        if (make != virtual_memory) { // of which holes may be unmapped
            EXPECT_NE(memory.free(), success) << "it is being freed";
        }
        EXPECT_EQ(freed.wait_for(0s), std::future_status::timeout) << "work is in flight";
        open_gate();
        EXPECT_EQ(freed.get(), success);
        EXPECT_EQ(cu().stream_synchronize(stream_), success);
        memory.clean_up();
    }
}

// A synchronous copy is in no stream, and waits for those before it.
TEST_F(sim_race, memory_stays_until_a_synchronous_copy_has_ended) {
    CUstream blocking = nullptr;
    ASSERT_EQ(cu().stream_create(&blocking, 0), success);
    for (auto const make : kinds) {
        victim const memory = make();
        std::atomic_ref(*gate_).store(0);
        ASSERT_EQ(cu().stream_wait_value32(blocking, number_of(gate_), 1, wait_value_eq), success);
        std::atomic<int> copying{0};
        auto const copy = [&] {
            ++copying;
            return cu().memcpy_htod(memory.address, host_, 4096);
        };
        auto one = on_a_thread(copy), other = on_a_thread(copy);
        while (copying < 2)
            std::this_thread::yield();
        auto freed = on_a_thread(memory.free);
        std::this_thread::sleep_for(5ms);
        open_gate();
        for (CUresult const result : {one.get(), other.get()})
            EXPECT_TRUE(result == success || result == error_invalid_value) << result;
        EXPECT_EQ(freed.get(), success);
        memory.clean_up();
    }
    EXPECT_EQ(cu().stream_destroy(blocking), success);
}

// Threads that know nothing of each other: each call succeeds or is refused.
TEST_F(sim_race, copies_beside_threads_that_free_and_allocate) {
    for (auto const make : kinds) {
        std::atomic<CUdeviceptr> latest{0};
        std::atomic<bool> is_over{false};
        auto copier = on_a_thread([&] {
            CUstream own = nullptr;
            EXPECT_EQ(cu().stream_create(&own, 1), success);
            for (unsigned i = 0; !is_over; ++i) {
                CUdeviceptr const there = latest;
                CUresult const result = i % 3 == 0 ? cu().memcpy_htod_async(there, host_, 4096, own)
                                        : i % 3 == 1 ? cu().memcpy_dtoh(host_, there, 4096)
                                                     : cu().memset_d8(there, 1, 4096);
                EXPECT_TRUE(result == success || result == error_invalid_value) << result;
            }
            EXPECT_EQ(cu().stream_synchronize(own), success);
            return cu().stream_destroy(own);
        });
        for (int i = 0; i < 20; ++i) {
            victim const memory = make();
            latest = memory.address;
            std::this_thread::yield();
            EXPECT_EQ(memory.free(), success);
            memory.clean_up();
        }
        is_over = true;
        EXPECT_EQ(copier.get(), success);
    }
}

// In the order of one stream, beside the work of another one, and the pool goes as well.
TEST_F(sim_race, memory_of_a_pool_stays_until_no_stream_uses_it) {
    for (bool const of_a_pool : {true, false}) {
        CUmemoryPool pool = nullptr;
        CUdeviceptr there = 0;
        if (of_a_pool) {
            CUmemPoolProps properties{};
            properties.allocType = allocation_type_pinned;
            properties.location = {location_type_device, 0};
            ASSERT_EQ(cu().mem_pool_create(&pool, &properties), success);
            ASSERT_EQ(cu().mem_alloc_from_pool_async(&there, size, pool, nullptr), success);
        } else {
            there = allocate(size);
        }
        close_gate();
        EXPECT_EQ(cu().memcpy_dtoh_async(host_, there, size, stream_), success);
        EXPECT_EQ(cu().memset_d32_async(there, 7, size / 4, stream_), success);
        EXPECT_EQ(cu().mem_free_async(there, nullptr), success);
        EXPECT_EQ(cu().stream_synchronize(nullptr), success);
        EXPECT_EQ(cu().memset_d8(there, 1, 1), error_invalid_value) << "it is freed";
        if (of_a_pool) {
            EXPECT_EQ(cu().mem_pool_destroy(pool), success);
        }
        open_gate();
        EXPECT_EQ(cu().stream_synchronize(stream_), success);
    }
}

TEST_F(sim_race, streams_and_events_go_while_their_work_is_in_flight) {
    CUstream other = nullptr;
    CUevent event = nullptr;
    ASSERT_EQ(cu().stream_create(&other, 1), success);
    ASSERT_EQ(cu().event_create(&event, 0), success);
    close_gate();
    EXPECT_EQ(cu().event_record(event, stream_), success);
    EXPECT_EQ(cu().stream_wait_event(other, event, 0), success);
    auto waits = on_a_thread([&] { return cu().event_synchronize(event); });
    auto drains = on_a_thread([&] { return cu().stream_synchronize(other); });
    EXPECT_EQ(cu().event_destroy(event), success);
    EXPECT_EQ(cu().stream_destroy(other), success);
    EXPECT_EQ(cu().event_destroy(event), error_invalid_handle);
    EXPECT_EQ(cu().stream_destroy(other), error_invalid_handle);
    open_gate();
    for (CUresult const result : {waits.get(), drains.get()})
        EXPECT_TRUE(result == success || result == error_invalid_handle) << result;
    EXPECT_EQ(cu().ctx_synchronize(), success);
}

// The work of a context that ends is dropped, and its other threads get errors.
TEST_F(sim_race, a_context_goes_beside_threads_that_use_it) {
    CUcontext doomed = nullptr;
    ASSERT_EQ(cu().ctx_create(&doomed, 0, 0), success);
    CUstream its = nullptr;
    ASSERT_EQ(cu().stream_create(&its, 1), success);
    CUdeviceptr const there = allocate(size);
    std::atomic_ref(*gate_).store(0);
    EXPECT_EQ(cu().stream_wait_value32(its, number_of(gate_), 1, wait_value_eq), success);
    std::vector<std::future<CUresult>> threads;
    for (int i = 0; i < 2; ++i)
        threads.push_back(std::async(std::launch::async, [&] {
            EXPECT_EQ(cu().ctx_set_current(doomed), success);
            return cu().ctx_synchronize();
        }));
    std::atomic<bool> is_gone{false};
    threads.push_back(std::async(std::launch::async, [&] {
        EXPECT_EQ(cu().ctx_set_current(doomed), success);
        CUresult result = success;
        while (!is_gone) {
            result = cu().memset_d8(there, 1, size);
            EXPECT_TRUE(result == success || result == error_invalid_value ||
                        result == error_context_is_destroyed)
                << result;
        }
        return success;
    }));
    EXPECT_EQ(cu().ctx_destroy(doomed), success);
    is_gone = true;
    for (auto& each : threads) {
        CUresult const result = each.get();
        EXPECT_TRUE(result == success || result == error_context_is_destroyed) << result;
    }
    EXPECT_EQ(cu().ctx_set_current(context_), success);
}

// Of memory that CUDA does not know, both ends of a copy are looked at.
TEST_F(sim_race, what_is_not_mapped_is_refused) {
    CUdeviceptr const freed = allocate(size);
    EXPECT_EQ(cu().mem_free(freed), success);
    void* const gone =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(gone, size);
    auto const host = number_of(host_);
    for (CUdeviceptr const bad : {freed, number_of(gone)}) {
        EXPECT_EQ(cu().memcpy_async(bad, host, 64, stream_), error_invalid_value);
        EXPECT_EQ(cu().memcpy_async(host, bad, 64, stream_), error_invalid_value);
        CUDA_MEMCPY2D rows{};
        rows.srcMemoryType = memory_type_host;
        rows.srcHost = reinterpret_cast<void const*>(bad);
        rows.srcPitch = 64;
        rows.dstMemoryType = memory_type_host;
        rows.dstHost = host_;
        rows.dstPitch = 64;
        rows.WidthInBytes = 64;
        rows.Height = 2;
        EXPECT_EQ(cu().memcpy_2d_unaligned(&rows), error_invalid_value);
    }
}

} // namespace
} // namespace barmap::sim_test
