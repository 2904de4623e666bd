// SPDX-License-Identifier: MIT
#include "driver.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <unistd.h>

namespace barmap::sim_test {
namespace {

using namespace barmap::cuda;
using namespace std::chrono_literals;

constexpr unsigned non_blocking = 1;

/// Work that does not end before it is told to.
struct gate {
    std::atomic<bool> open{false};
    static void wait(void* self) {
        while (!static_cast<gate*>(self)->open.load())
            std::this_thread::sleep_for(100us);
    }
    void put_in(CUstream stream) {
        EXPECT_EQ(function<CUresult(CUstream, void (*)(void*), void*)>("cuLaunchHostFunc")(
                      stream, &gate::wait, this),
                  success);
    }
};

class sim_stream : public with_context {
protected:
    void SetUp() override {
        with_context::SetUp();
        there_ = allocate(4096);
    }
    CUstream make(unsigned flags) {
        CUstream stream = nullptr;
        EXPECT_EQ(cu().stream_create(&stream, flags), success);
        return stream;
    }
    CUevent make_event() {
        CUevent event = nullptr;
        EXPECT_EQ(cu().event_create(&event, 0), success);
        return event;
    }
    unsigned char first_byte() {
        // Through the file, so that looking orders nothing.
        int fd = -1;
        std::uint64_t offset = 0;
        BARMAP_SIM_FUNCTION(barmap_sim_address)(there_, &fd, &offset, nullptr, nullptr);
        unsigned char seen = 0;
        EXPECT_EQ(pread(fd, &seen, 1, off_t(offset)), 1);
        return seen;
    }
    CUdeviceptr there_ = 0;
};

TEST_F(sim_stream, work_is_asynchronous_and_in_order) {
    CUstream const stream = make(non_blocking);
    gate held;
    held.put_in(stream);
    auto const set =
        function<CUresult(CUdeviceptr, unsigned char, std::size_t, CUstream)>("cuMemsetD8Async");
    EXPECT_EQ(set(there_, 1, 1, stream), success);
    EXPECT_EQ(set(there_, 2, 1, stream), success);
    EXPECT_EQ(cu().stream_query(stream), error_not_ready);
    EXPECT_EQ(first_byte(), 0);
    held.open = true;
    EXPECT_EQ(cu().stream_synchronize(stream), success);
    EXPECT_EQ(cu().stream_query(stream), success);
    EXPECT_EQ(first_byte(), 2);
    EXPECT_EQ(cu().stream_destroy(stream), success);
    EXPECT_EQ(cu().stream_query(stream), error_invalid_handle);
}

TEST_F(sim_stream, a_pageable_source_is_read_at_once_and_a_pinned_one_later) {
    CUstream const stream = make(non_blocking);
    void* pinned = nullptr;
    ASSERT_EQ(cu().mem_host_alloc(&pinned, 16, 0), success);
    auto& pinned_byte = *static_cast<unsigned char*>(pinned);
    unsigned char pageable_byte = 5;
    pinned_byte = 5;
    gate held;
    held.put_in(stream);
    EXPECT_EQ(cu().memcpy_htod_async(there_, &pageable_byte, 1, stream), success);
    EXPECT_EQ(cu().memcpy_htod_async(there_ + 1, pinned, 1, stream), success);
    pageable_byte = 6;
    pinned_byte = 6;
    held.open = true;
    EXPECT_EQ(cu().stream_synchronize(stream), success);
    EXPECT_EQ(read(there_, 2), (std::vector<unsigned char>{5, 6}));
    unsigned char back = 0;
    EXPECT_EQ(cu().memcpy_dtoh_async(&back, there_, 1, stream), success);
    EXPECT_EQ(back, 5) << "pageable destinations are written on return";
    EXPECT_EQ(cu().stream_destroy(stream), success);
    EXPECT_EQ(cu().mem_free_host(pinned), success);
}

TEST_F(sim_stream, the_default_stream_waits_for_blocking_streams_and_they_for_it) {
    CUstream const blocking = make(0), independent = make(non_blocking);
    gate held;
    held.put_in(blocking);
    std::atomic<bool> copied{false};
    std::thread other([&] {
        cu().ctx_set_current(context_);
        write(there_, {1}); // in the default stream
        copied = true;
    });
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(copied);
    unsigned char const two = 2;
    EXPECT_EQ(cu().memcpy_htod_async(there_, &two, 1, independent), success);
    EXPECT_EQ(cu().stream_synchronize(independent), success);
    EXPECT_EQ(first_byte(), 2) << "a non-blocking stream waits for neither";
    held.open = true;
    other.join();
    EXPECT_EQ(first_byte(), 1);

    gate second;
    second.put_in(nullptr);
    EXPECT_EQ(cu().memcpy_htod_async(there_, &two, 1, blocking), success);
    EXPECT_EQ(cu().stream_query(blocking), error_not_ready);
    EXPECT_EQ(first_byte(), 1);
    second.open = true;
    EXPECT_EQ(cu().ctx_synchronize(), success);
    EXPECT_EQ(first_byte(), 2);
    EXPECT_EQ(cu().stream_destroy(blocking), success);
    EXPECT_EQ(cu().stream_destroy(independent), success);
}

TEST_F(sim_stream, each_thread_has_a_default_stream_of_its_own) {
    auto* const own = reinterpret_cast<CUstream>(std::uintptr_t{2}); // CU_STREAM_PER_THREAD
    auto* const live = BARMAP_SIM_FUNCTION(barmap_sim_live);
    std::size_t const before = live();
    gate held;
    held.put_in(own);
    std::thread([&] {
        cu().ctx_set_current(context_);
        unsigned char const three = 3;
        EXPECT_EQ(cu().memcpy_htod_async(there_, &three, 1, own), success);
        EXPECT_EQ(cu().stream_synchronize(own), success);
    }).join();
    EXPECT_EQ(first_byte(), 3);
    EXPECT_EQ(cu().stream_query(own), error_not_ready);
    EXPECT_EQ(cu().stream_query(nullptr), error_not_ready) << "the legacy one waits for them";
    CUcontext owner = nullptr;
    EXPECT_EQ(cu().stream_get_ctx(own, &owner), success);
    EXPECT_EQ(owner, context_);
    EXPECT_EQ(live(), before) << "the program has created none";
    held.open = true;
    EXPECT_EQ(cu().ctx_synchronize(), success);
    EXPECT_EQ(cu().stream_query(own), success);
}

TEST_F(sim_stream, events_order_streams_and_measure_time) {
    CUstream const first = make(non_blocking), second = make(non_blocking);
    CUevent const start = make_event(), reached = make_event(), end = make_event();
    float milliseconds = -1;
    EXPECT_EQ(cu().event_query(start), success) << "never recorded";
    EXPECT_EQ(cu().event_elapsed_time(&milliseconds, start, end), error_invalid_handle);
    gate held;
    EXPECT_EQ(cu().event_record(start, first), success);
    EXPECT_EQ(cu().event_synchronize(start), success) << "so that the pause below is after it";
    held.put_in(first);
    EXPECT_EQ(cu().event_record(reached, first), success);
    EXPECT_EQ(cu().stream_wait_event(second, reached, 0), success);
    unsigned char const nine = 9;
    EXPECT_EQ(cu().memcpy_htod_async(there_, &nine, 1, second), success);
    EXPECT_EQ(cu().event_record(end, second), success);
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(cu().event_query(reached), error_not_ready);
    EXPECT_EQ(cu().event_elapsed_time(&milliseconds, start, end), error_not_ready);
    EXPECT_EQ(first_byte(), 0);
    held.open = true;
    EXPECT_EQ(cu().event_synchronize(end), success);
    EXPECT_EQ(first_byte(), 9);
    EXPECT_EQ(cu().event_elapsed_time(&milliseconds, start, end), success);
    EXPECT_GE(milliseconds, 19);
    for (CUevent const event : {start, reached, end})
        EXPECT_EQ(cu().event_destroy(event), success);
    EXPECT_EQ(cu().event_query(end), error_invalid_handle);
    EXPECT_EQ(cu().stream_destroy(first), success);
    EXPECT_EQ(cu().stream_destroy(second), success);
}

TEST_F(sim_stream, freeing_and_destroying_wait_for_the_work) {
    CUstream const stream = make(0);
    gate held;
    held.put_in(stream);
    EXPECT_EQ(cu().stream_destroy(stream), success) << "returns at once; the work goes on";
    std::thread opener([&] {
        std::this_thread::sleep_for(20ms);
        held.open = true;
    });
    EXPECT_EQ(cu().mem_free(there_), success);
    EXPECT_TRUE(held.open);
    opener.join();
}

TEST_F(sim_stream, many_threads_and_streams_at_once) {
    std::vector<std::thread> threads;
    for (unsigned k = 0; k < 8; ++k)
        threads.emplace_back([this, k] {
            cu().ctx_set_current(context_);
            CUstream stream = nullptr;
            EXPECT_EQ(cu().stream_create(&stream, k % 2), success);
            CUdeviceptr const own = allocate(64);
            for (unsigned round = 0; round < 50; ++round) {
                auto const sent = pattern(64, k + round);
                std::vector<unsigned char> got(64);
                EXPECT_EQ(cu().memcpy_htod_async(own, sent.data(), 64, stream), success);
                EXPECT_EQ(cu().memcpy_dtoh_async(got.data(), own, 64, stream), success);
                EXPECT_EQ(got, sent);
            }
            EXPECT_EQ(cu().stream_destroy(stream), success);
            EXPECT_EQ(cu().mem_free(own), success);
        });
    for (auto& thread : threads)
        thread.join();
}

class sim_kernel : public sim_stream {
protected:
    void SetUp() override {
        sim_stream::SetUp();
        ASSERT_EQ(cu().module_load_data(&module_, ".version 7.0\n"), success);
    }
    void launch(char const* name, CUstream stream, std::vector<void*> parameters) {
        CUfunction kernel = nullptr;
        ASSERT_EQ(cu().module_get_function(&kernel, module_, name), success);
        ASSERT_EQ(
            cu().launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters.data(), nullptr),
            success);
    }
    CUmodule module_ = nullptr;
};

TEST_F(sim_kernel, fill) {
    std::uint64_t bytes = 1000, seed = 3;
    launch("barmap_fill", nullptr, {&there_, &bytes, &seed});
    auto const seen = read(there_, 1000);
    for (std::uint64_t k = 0; k < bytes; ++k)
        ASSERT_EQ(seen[k], static_cast<unsigned char>(k * 131 + seed * 29 + (k >> 8))) << k;
}

TEST_F(sim_kernel, pingpong) {
    CUstream const stream = make(non_blocking), bell = make(non_blocking);
    void* host = nullptr;
    ASSERT_EQ(cu().mem_host_alloc(&host, 8, 0), success);
    std::atomic_ref answer(*static_cast<std::uint64_t*>(host));
    answer = 0;
    auto answer_address = reinterpret_cast<CUdeviceptr>(host);
    std::uint64_t rounds = 20;
    launch("barmap_pingpong", stream, {&there_, &answer_address, &rounds});
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        EXPECT_EQ(cu().memcpy_htod_async(there_, &round, sizeof round, bell), success);
        while (answer.load() != round)
            std::this_thread::yield();
    }
    EXPECT_EQ(cu().stream_synchronize(stream), success);
    EXPECT_EQ(cu().stream_destroy(stream), success);
    EXPECT_EQ(cu().stream_destroy(bell), success);
    EXPECT_EQ(cu().mem_free_host(host), success);
}

TEST_F(sim_kernel, count_stops_when_told) {
    CUstream const stream = make(non_blocking), other = make(non_blocking);
    std::uint32_t bytes = 16, one = 1, pace = 0;
    std::uint64_t last = ~0ull;
    CUdeviceptr stop = there_ + 64;
    launch("barmap_count", stream, {&there_, &bytes, &last, &stop, &pace});
    std::uint64_t seen[2] = {};
    while (seen[0] < 100)
        ASSERT_EQ(cu().memcpy_dtoh_async(seen, there_, sizeof seen, other), success);
    ASSERT_EQ(cu().memcpy_htod_async(stop, &one, sizeof one, other), success);
    EXPECT_EQ(cu().stream_synchronize(stream), success);
    EXPECT_EQ(cu().memcpy_dtoh_async(seen, there_, sizeof seen, other), success);
    EXPECT_EQ(seen[0], seen[1]);
    EXPECT_EQ(cu().stream_destroy(stream), success);
    EXPECT_EQ(cu().stream_destroy(other), success);
}

TEST_F(sim_kernel, count_keeps_its_pace) {
    CUstream const stream = make(non_blocking);
    std::uint32_t bytes = 1, pace = 3'000'000; // a millisecond at 3 GHz
    std::uint64_t last = 20;
    CUdeviceptr stop = 0;
    auto const begin = std::chrono::steady_clock::now();
    launch("barmap_count", stream, {&there_, &bytes, &last, &stop, &pace});
    EXPECT_EQ(cu().stream_synchronize(stream), success);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(19));
    EXPECT_EQ(cu().stream_destroy(stream), success);
}

TEST_F(sim_kernel, what_it_does_not_know_is_refused) {
    CUfunction kernel = nullptr;
    CUmodule other = nullptr;
    EXPECT_EQ(cu().module_get_function(&kernel, module_, "someone_elses"), error_not_found);
    EXPECT_EQ(cu().module_load_data(&other, "\x7f"
                                            "ELF"),
              200);
    EXPECT_EQ(cu().module_get_function(&kernel, module_, "barmap_fill"), success);
    CUdeviceptr nowhere = 0x1000;
    std::uint64_t bytes = 8, seed = 0;
    void* parameters[] = {&nowhere, &bytes, &seed};
    EXPECT_EQ(cu().launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
              error_invalid_value);
    EXPECT_EQ(cu().module_unload(module_), success);
    EXPECT_EQ(cu().launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
              error_invalid_handle);
}

} // namespace
} // namespace barmap::sim_test
