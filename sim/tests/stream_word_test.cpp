// SPDX-License-Identifier: MIT
#include "driver.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace barmap::sim_test {
namespace {

using namespace barmap::cuda;
using namespace std::chrono_literals;

class sim_stream_word : public with_context {
protected:
    void SetUp() override {
        with_context::SetUp();
        ASSERT_EQ(cu().stream_create(&stream_, 1), success);
        void* host = nullptr;
        ASSERT_EQ(cu().mem_host_alloc(&host, 64, 0), success);
        word_ = static_cast<std::uint32_t*>(host);
        there_ = reinterpret_cast<CUdeviceptr>(host);
        store(0);
    }
    void TearDown() override {
        if (stream_) {
            EXPECT_EQ(cu().stream_destroy(stream_), success);
            EXPECT_EQ(cu().mem_free_host(word_), success);
        }
        with_context::TearDown();
    }
    void store(std::uint32_t value) { std::atomic_ref(*word_).store(value); }
    CUresult wait(std::uint32_t value, unsigned flags) {
        return cu().stream_wait_value32(stream_, there_, value, flags);
    }
    /// Whether a stream that waits goes on without another word.
    bool goes_on(std::uint32_t seen, std::uint32_t value, unsigned flags) {
        store(seen);
        EXPECT_EQ(wait(value, flags), success);
        std::this_thread::sleep_for(20ms);
        CUresult const state = cu().stream_query(stream_);
        store(flags == wait_value_nor ? ~value - 1 : value);
        EXPECT_EQ(cu().stream_synchronize(stream_), success);
        return state == success;
    }

    CUstream stream_ = nullptr;
    std::uint32_t* word_ = nullptr;
    CUdeviceptr there_ = 0;
};

TEST_F(sim_stream_word, blocks_the_stream_until_the_word_is_written) {
    CUdeviceptr const data = allocate(16);
    unsigned char const nine = 9;
    EXPECT_EQ(wait(7, wait_value_eq), success);
    EXPECT_EQ(cu().memcpy_htod_async(data, &nine, 1, stream_), success);
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(cu().stream_query(stream_), error_not_ready);
    store(6);
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(cu().stream_query(stream_), error_not_ready);
    store(7);
    EXPECT_EQ(cu().stream_synchronize(stream_), success);
    EXPECT_EQ(read(data, 1).front(), 9);
    EXPECT_EQ(cu().mem_free(data), success);
}

TEST_F(sim_stream_word, compares_as_it_is_told) {
    EXPECT_TRUE(goes_on(5, 5, wait_value_geq));
    EXPECT_TRUE(goes_on(6, 5, wait_value_geq | wait_value_flush));
    EXPECT_FALSE(goes_on(4, 5, wait_value_geq));
    EXPECT_TRUE(goes_on(2, 0xfffffff0, wait_value_geq)) << "it is past the end";
    EXPECT_FALSE(goes_on(0xfffffff0, 2, wait_value_geq));
    EXPECT_FALSE(goes_on(6, 5, wait_value_eq));
    EXPECT_TRUE(goes_on(6, 4, wait_value_and));
    EXPECT_FALSE(goes_on(3, 4, wait_value_and));
    EXPECT_TRUE(goes_on(3, 4, wait_value_nor));
    EXPECT_FALSE(goes_on(0xfffffffb, 4, wait_value_nor));
}

TEST_F(sim_stream_word, another_stream_may_write_it_in_device_memory) {
    CUdeviceptr const word = allocate(64);
    CUstream other = nullptr;
    ASSERT_EQ(cu().stream_create(&other, 1), success);
    EXPECT_EQ(cu().stream_wait_value32(stream_, word + 4, 3, wait_value_geq), success);
    EXPECT_EQ(cu().stream_query(stream_), error_not_ready);
    EXPECT_EQ(cu().stream_write_value32(other, word + 4, 3, 0), success);
    EXPECT_EQ(cu().stream_synchronize(stream_), success);
    EXPECT_EQ(cu().stream_destroy(other), success);
    EXPECT_EQ(cu().mem_free(word), success);
}

TEST_F(sim_stream_word, several_operations_are_one_entry) {
    CUdeviceptr const word = allocate(64);
    CUstreamBatchMemOpParams list[3]{
        {operation_write_value32, word, 9, 0, 0, 0},
        {operation_wait_value32, there_, 7, wait_value_geq, 0, 0},
        {operation_write_value32, word + 4, 10, 0, 0, 0},
    };
    store(0);
    EXPECT_EQ(cu().stream_batch_mem_op(stream_, 3, list, 0), success);
    while (*reinterpret_cast<std::uint32_t const*>(read(word, 4).data()) != 9)
        std::this_thread::yield();
    EXPECT_EQ(cu().stream_query(stream_), error_not_ready);
    store(7);
    EXPECT_EQ(cu().stream_synchronize(stream_), success);
    EXPECT_EQ(read(word + 4, 1).front(), 10);
    // Where one is refused, none is done.
    list[0].value = 11;
    for (unsigned const other : {3u, 4u, 6u}) {
        list[2].operation = other;
        EXPECT_EQ(cu().stream_batch_mem_op(stream_, 3, list, 0), error_not_supported);
    }
    list[2] = {operation_wait_value32, there_ + 2, 0, 0, 0, 0};
    EXPECT_EQ(cu().stream_batch_mem_op(stream_, 3, list, 0), error_invalid_value);
    EXPECT_EQ(cu().stream_batch_mem_op(stream_, 2, list, 1), error_invalid_value);
    EXPECT_EQ(cu().stream_batch_mem_op(stream_, 257, list, 0), error_invalid_value);
    EXPECT_EQ(cu().stream_batch_mem_op(stream_, 1, nullptr, 0), error_invalid_value);
    EXPECT_EQ(cu().stream_batch_mem_op(stream_, 0, nullptr, 0), success);
    EXPECT_EQ(cu().stream_synchronize(stream_), success);
    EXPECT_EQ(read(word, 1).front(), 9);
    EXPECT_EQ(cu().mem_free(word), success);
}

TEST_F(sim_stream_word, refuses_what_it_cannot_wait_for) {
    EXPECT_EQ(wait(0, 4), error_invalid_value);
    EXPECT_EQ(wait(0, 1u << 29), error_invalid_value);
    EXPECT_EQ(cu().stream_wait_value32(stream_, there_ + 2, 0, 0), error_invalid_value);
    std::uint32_t ordinary = 0;
    for (auto const address : {CUdeviceptr{0}, reinterpret_cast<CUdeviceptr>(&ordinary)})
        EXPECT_EQ(cu().stream_wait_value32(stream_, address, 0, 0), error_invalid_value);
    CUdeviceptr managed = 0;
    ASSERT_EQ(cu().mem_alloc_managed(&managed, 64, mem_attach_global), success);
    EXPECT_EQ(cu().stream_wait_value32(stream_, managed, 0, 0), error_invalid_value);
    EXPECT_EQ(cu().mem_free(managed), success);
    EXPECT_EQ(cu().stream_query(stream_), success);
}

TEST_F(sim_stream_word, a_context_that_ends_gives_up_what_waits_for_ever) {
    CUdeviceptr const data = allocate(16);
    std::uint32_t answer = 0;
    ASSERT_EQ(cu().mem_host_register(&answer, sizeof answer, 0), success);
    EXPECT_EQ(wait(1, wait_value_eq), success);
    EXPECT_EQ(cu().stream_write_value32(stream_, reinterpret_cast<CUdeviceptr>(&answer), 8, 0),
              success);
    EXPECT_EQ(cu().memcpy_htod_async(data, &answer, sizeof answer, stream_), success);
    EXPECT_EQ(cu().ctx_destroy(context_), success);
    EXPECT_EQ(answer, 0u) << "what comes after it is not done";
    stream_ = nullptr;
    ASSERT_EQ(cu().ctx_create(&context_, 0, 0), success);
}

BARMAP_SIM_PEER(leave_a_stream_waiting) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    void* word = nullptr;
    cu().init(0);
    cu().ctx_create(&context, 0, 0);
    cu().stream_create(&stream, 1);
    cu().mem_host_alloc(&word, 4, 0);
    auto const address = reinterpret_cast<CUdeviceptr>(word);
    std::printf("%d", cu().stream_wait_value32(stream, address, 1, wait_value_eq));
}

TEST_F(sim_stream_word, a_process_ends_while_a_stream_waits) {
    EXPECT_EQ(in_other_process("", "leave_a_stream_waiting"), "0");
}

} // namespace
} // namespace barmap::sim_test
