// SPDX-License-Identifier: MIT
#include "contract/numbered.hpp"

#include <barmap/counter.hpp>
#include <barmap/rpc.hpp>
#include <barmap/step_tensors.hpp>

#include <chrono>
#include <cstdint>
#include <cstring>

/// Rings and other signals in a context that ends before they do, and on two GPUs at once.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;
using gpu::status;

using nine_words = numbered<9>;

using signal_context_test = contract_test;

TEST_P(signal_context_test, signals_may_outlive_their_context) {
    auto const before = the_machine().held();
    CUcontext own_context = nullptr, gone = nullptr;
    ASSERT_EQ(cu().ctx_get_current(&own_context), cuda::success);
    ASSERT_EQ(cu().ctx_create(&gone, 0, 0), cuda::success);
    {
        device const gpu = device::open(0);
        arena const words(gpu, enough, enough);
        ring_to_gpu<nine_words> there(words, 4), own(gpu, 4);
        ring_to_cpu<nine_words> back(words, 4);
        counter_to_gpu in(words);
        counter_to_cpu out(words);
        rpc_to_cpu<nine_words, nine_words> calls(words, 2);
        {
            gpu::producer<nine_words> before_the_end(back.handle_for_thread());
            EXPECT_EQ(before_the_end.push(nine_words::of(1)), status::ok);
        }
        ASSERT_EQ(cu().ctx_destroy(gone), cuda::success);
        for (unsigned i = 0; i < 8; ++i) {
            EXPECT_EQ(there.try_push(nine_words::of(i)), i < 4);
            EXPECT_EQ(own.try_push(nine_words::of(i)), i < 4);
            there.flush();
            in.advance(i);
            calls.reply(i, nine_words::of(i));
        }
        EXPECT_EQ(back.try_pop(), nine_words::of(1)) << "it is in the host's memory";
        EXPECT_FALSE(back.try_pop() || out.is_at_least(1) || calls.try_take());
        there.close();
        back.close();
        calls.close();
        EXPECT_EQ(refusal_of([&] { out.record(reinterpret_cast<void*>(17), 1); }).code.category(),
                  cuda_category());
    }
    EXPECT_EQ(cu().ctx_set_current(own_context), cuda::success);
    EXPECT_EQ(the_machine().held(), before);
}

using signal_devices_test = two_gpus;

TEST_P(signal_devices_test, rings_of_two_gpus_are_used_at_once) {
    struct pair {
        explicit pair(device const& gpu)
            : there(gpu, 4), back(gpu, 4), in(there.handle_for_thread()),
              out(back.handle_for_thread()) {}
        ring_to_gpu<nine_words> there;
        ring_to_cpu<nine_words> back;
        gpu::consumer<nine_words> in;
        gpu::producer<nine_words> out;
    };
    the_machine().use(1); // whichever is current
    pair first(device::open(0)), second(device::open(1));
    auto const gpu_of = [](gpu::word const* there) {
        return device::from_pointer(there).ordinal();
    };
    EXPECT_EQ(gpu_of(first.there.handle().slots), 0);
    EXPECT_EQ(gpu_of(first.back.handle().credits), 0);
    EXPECT_EQ(gpu_of(second.there.handle().slots), 1);
    EXPECT_EQ(gpu_of(second.back.handle().credits), 1);
    nine_words value{};
    for (std::uint64_t i = 0; i < 20; ++i) {
        std::uint64_t which = 1000;
        for (pair* const each : {&first, &second}) {
            EXPECT_TRUE(each->there.try_push(nine_words::of(which + i)));
            each->there.flush();
            which *= 2;
        }
        for (pair* const each : {&second, &first}) {
            EXPECT_EQ(each->in.pop(value, patience), status::ok);
            EXPECT_EQ(value, nine_words::of((which /= 2) + i));
            EXPECT_EQ(each->out.push(value), status::ok);
            EXPECT_EQ(each->back.try_pop(), nine_words::of(which + i));
        }
    }
}

// The default stream is that of a context, which may be another GPU's.
TEST_P(signal_devices_test, the_default_stream_is_that_of_the_gpu) {
    device const first = device::open(0), second = device::open(1);
    arena const words(first, enough, enough), others(second, enough, enough);
    counter_to_cpu done(words);
    counter_to_gpu go(others);
    the_machine().use(1);
    go.wait(nullptr, 1);
    done.record(nullptr, 1);
    EXPECT_TRUE(done.wait_for(1, 60s)) << "the other GPU's waits";
    EXPECT_EQ(cu().stream_query(nullptr), cuda::error_not_ready);
    go.advance(1);
    EXPECT_EQ(cu().stream_synchronize(nullptr), cuda::success);
}

TEST_P(signal_devices_test, steps_are_of_the_gpu_that_has_their_tensors) {
    device const first = device::open(0), second = device::open(1);
    CUdeviceptr here = 0, other = 0;
    the_machine().use(0);
    ASSERT_EQ(cu().mem_alloc(&here, 8), cuda::success);
    the_machine().use(1);
    ASSERT_EQ(cu().mem_alloc(&other, 8), cuda::success);
    step_tensor const tensor[] = {{here, 8}}, both[] = {{here, 8}, {other, 8}};
    expect_refusal([&] { step_inputs const refused(first, both); }, errc::invalid_argument,
                   "a tensor is in memory of GPU 1");
    expect_refusal([&] { step_outputs const refused(second, both); }, errc::invalid_argument,
                   "a tensor is in memory of GPU 0");
    {
        // Made while the other GPU's context is current.
        step_inputs inputs(first, tensor);
        step_outputs outputs(first, tensor);
        std::uint64_t const sent = 0x1122334455667788;
        std::memcpy(inputs.staging(0).data(), &sent, sizeof sent);
        ASSERT_TRUE(inputs.try_push());
        the_machine().use(0);
        CUstream stream = nullptr;
        ASSERT_EQ(cu().stream_create(&stream, 0), cuda::success);
        the_machine().use(1);
        inputs.enqueue_load(stream);
        outputs.enqueue_store(stream);
        ASSERT_TRUE(outputs.wait_for(60s) && outputs.try_pop());
        EXPECT_EQ(std::memcmp(outputs.staging(0).data(), &sent, sizeof sent), 0);
        EXPECT_EQ(cu().stream_synchronize(stream), cuda::success);
        EXPECT_EQ(cu().stream_destroy(stream), cuda::success);
    }
    EXPECT_EQ(cu().mem_free(other), cuda::success);
    EXPECT_EQ(cu().mem_free(here), cuda::success);
}

BARMAP_OVER_KINDS_OF_MEMORY(signal_context_test);
BARMAP_OVER_KINDS_OF_MEMORY(signal_devices_test);

} // namespace
} // namespace barmap::contract
