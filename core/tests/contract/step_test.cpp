// SPDX-License-Identifier: MIT
#include "contract/numbered.hpp"

#include <barmap/step_tensors.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

/// Inputs and results of steps, by the kernels that the library ships.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;

class step_test : public contract_test {
protected:
    void SetUp() override {
        contract_test::SetUp();
        constexpr unsigned non_blocking = 1;
        ASSERT_EQ(cu().stream_create(&stream_, non_blocking), cuda::success);
    }
    void TearDown() override {
        EXPECT_EQ(cu().stream_destroy(stream_), cuda::success);
        for (CUdeviceptr const each : memory_)
            EXPECT_EQ(cu().mem_free(each), cuda::success);
        contract_test::TearDown();
    }
    /// Tensors of these sizes, some of which begin at odd addresses.
    std::vector<step_tensor> tensors(std::vector<std::size_t> const& sizes) {
        std::vector<step_tensor> result;
        for (std::size_t const bytes : sizes) {
            CUdeviceptr address = 0;
            EXPECT_EQ(cu().mem_alloc(&address, bytes + 16), cuda::success);
            EXPECT_EQ(cu().memset_d8(address, 0xee, bytes + 16), cuda::success);
            memory_.push_back(address);
            result.push_back({address + result.size() % 3, bytes});
        }
        return result;
    }
    static std::vector<unsigned char> content(std::size_t bytes, unsigned seed) {
        std::vector<unsigned char> result(bytes);
        std::iota(result.begin(), result.end(), static_cast<unsigned char>(seed * 37 + bytes));
        return result;
    }
    std::vector<unsigned char> on_gpu(step_tensor const& which) {
        EXPECT_EQ(cu().stream_synchronize(stream_), cuda::success);
        std::vector<unsigned char> result(which.bytes + 8);
        EXPECT_EQ(cu().memcpy_dtoh(result.data(), which.gpu_address, result.size()), cuda::success);
        EXPECT_TRUE(std::all_of(result.end() - 8, result.end(), [](auto b) { return b == 0xee; }))
            << "nothing behind it was written";
        result.resize(which.bytes);
        return result;
    }

    CUstream stream_ = nullptr;

private:
    std::vector<CUdeviceptr> memory_;
};

std::vector<std::vector<std::size_t>> const shapes{
    {1}, {8}, {9}, {4, 4}, {8, 8, 8, 8}, {8, 8, 8, 8, 1}, {256, 3, 1000, 64, 7}, {5000}};

TEST_P(step_test, each_load_gets_what_was_pushed_for_it) {
    device const gpu = device::open(0);
    for (auto const& sizes : shapes) {
        SCOPED_TRACE(testing::PrintToString(sizes));
        std::vector<step_tensor> const where = tensors(sizes);
        step_inputs inputs(gpu, where, 2);
        auto const push = [&](unsigned seed) {
            for (std::size_t i = 0; i < where.size(); ++i) {
                std::span<std::byte> const to = inputs.staging(i);
                ASSERT_EQ(to.size(), where[i].bytes);
                std::memcpy(to.data(), content(to.size(), seed).data(), to.size());
            }
            ASSERT_TRUE(inputs.wait_for(60s) && inputs.try_push());
        };
        auto const expect = [&](unsigned seed) {
            for (step_tensor const& each : where)
                EXPECT_EQ(on_gpu(each), content(each.bytes, seed));
        };
        for (unsigned step = 0; step < 5; ++step) {
            push(step);
            inputs.enqueue_load(stream_);
            expect(step);
        }
        push(5);
        push(6);
        EXPECT_FALSE(inputs.try_push()) << "no version is free";
        EXPECT_FALSE(inputs.wait_for(1ms));
        expect(4);
        inputs.enqueue_load(stream_);
        expect(5);
        inputs.enqueue_load(stream_);
        expect(6);
        inputs.enqueue_load(stream_); // before its push
        push(7);
        expect(7);
        EXPECT_FALSE(inputs.failed());
    }
}

TEST_P(step_test, each_pop_gets_what_a_store_has_published) {
    device const gpu = device::open(0);
    for (auto const& sizes : shapes) {
        SCOPED_TRACE(testing::PrintToString(sizes));
        std::vector<step_tensor> const where = tensors(sizes);
        step_outputs outputs(gpu, where, 2);
        EXPECT_FALSE(outputs.try_pop() || outputs.wait_for(1ms));
        auto const set = [&](unsigned seed) {
            EXPECT_EQ(cu().stream_synchronize(stream_), cuda::success);
            for (step_tensor const& each : where)
                EXPECT_EQ(cu().memcpy_htod(each.gpu_address, content(each.bytes, seed).data(),
                                           each.bytes),
                          cuda::success);
        };
        auto const expect = [&](unsigned seed) {
            ASSERT_TRUE(outputs.wait_for(60s) && outputs.try_pop());
            for (std::size_t i = 0; i < where.size(); ++i) {
                std::span<std::byte const> const got = outputs.staging(i);
                EXPECT_EQ(std::vector<unsigned char>(
                              reinterpret_cast<unsigned char const*>(got.data()),
                              reinterpret_cast<unsigned char const*>(got.data()) + got.size()),
                          content(where[i].bytes, seed));
            }
        };
        for (unsigned step = 0; step < 5; ++step) {
            set(step);
            outputs.enqueue_store(stream_);
            expect(step);
        }
        for (unsigned step = 5; step < 7; ++step) {
            set(step);
            outputs.enqueue_store(stream_);
        }
        expect(5);
        expect(6);
        EXPECT_FALSE(outputs.try_pop());
        EXPECT_FALSE(outputs.failed());
    }
}

TEST_P(step_test, tensors_are_checked) {
    device const gpu = device::open(0);
    std::vector<step_tensor> const good = tensors({8});
    step_tensor const null[] = {{0, 8}}, empty[] = {{good[0].gpu_address, 0}};
    expect_refusal([&] { step_inputs const refused(gpu, null); }, errc::invalid_argument,
                   "an address and a size");
    expect_refusal([&] { step_outputs const refused(gpu, empty); }, errc::invalid_argument,
                   "an address and a size");
    expect_refusal([&] { step_inputs const refused(gpu, {}); }, errc::invalid_argument,
                   "at least one");
    expect_refusal([&] { step_inputs const refused(gpu, good, 3); }, errc::invalid_argument,
                   "a power of two");
    std::vector<step_tensor> const large = tensors({(std::size_t{1} << 20) + 1});
    expect_refusal([&] { step_inputs const refused(gpu, large); }, errc::invalid_argument, "1 MiB");
    step_tensor const long_one[] = {{good[0].gpu_address, 1 << 19}};
    expect_refusal([&] { step_inputs const refused(gpu, long_one); }, errc::out_of_range,
                   "inside one allocation");
    host_buffer const pinned = gpu.allocate_host(8);
    std::uint64_t ordinary = 0;
    for (void* const host : {static_cast<void*>(pinned.data()), static_cast<void*>(&ordinary)}) {
        step_tensor const on_cpu[] = {good[0], {reinterpret_cast<std::uintptr_t>(host), 8}};
        expect_refusal([&] { step_inputs const refused(gpu, on_cpu); }, errc::invalid_argument,
                       "give memory of GPU 0");
        expect_refusal([&] { step_outputs const refused(gpu, on_cpu); }, errc::invalid_argument,
                       "give memory of GPU 0");
    }
}

// The kernels belong to a context, and so does the default stream.
TEST_P(step_test, steps_run_and_end_in_the_context_that_they_were_made_in) {
    device const gpu = device::open(0);
    std::vector<step_tensor> const where = tensors({8});
    auto const before = the_machine().held();
    std::optional<step_inputs> inputs(std::in_place, gpu, where);
    std::optional<step_outputs> outputs(std::in_place, gpu, where);
    CUcontext own = nullptr, other = nullptr, now = nullptr;
    ASSERT_EQ(cu().ctx_get_current(&own), cuda::success);
    ASSERT_EQ(cu().ctx_create(&other, 0, 0), cuda::success);
    for (CUstream const stream : {stream_, CUstream{}}) {
        std::memcpy(inputs->staging(0).data(), content(8, stream ? 1 : 2).data(), 8);
        ASSERT_TRUE(inputs->try_push());
        inputs->enqueue_load(stream);
        outputs->enqueue_store(stream);
        ASSERT_TRUE(outputs->wait_for(60s) && outputs->try_pop());
        EXPECT_TRUE(std::ranges::equal(outputs->staging(0), inputs->staging(0)));
    }
    inputs.reset();
    outputs.reset();
    EXPECT_EQ(cu().ctx_get_current(&now), cuda::success);
    EXPECT_EQ(now, other) << "it is put back";
    EXPECT_EQ(cu().ctx_destroy(other), cuda::success);
    EXPECT_EQ(cu().ctx_set_current(own), cuda::success);
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(step_test, steps_may_outlive_their_context) {
    device const gpu = device::open(0);
    std::vector<step_tensor> const where = tensors({8});
    auto const before = the_machine().held();
    {
        CUcontext own = nullptr, gone = nullptr;
        ASSERT_EQ(cu().ctx_get_current(&own), cuda::success);
        ASSERT_EQ(cu().ctx_create(&gone, 0, 0), cuda::success);
        step_inputs inputs(gpu, where);
        step_outputs outputs(gpu, where);
        ASSERT_EQ(cu().ctx_destroy(gone), cuda::success);
        ASSERT_EQ(cu().ctx_set_current(own), cuda::success);
        EXPECT_TRUE(inputs.try_push()) << "O42";
        EXPECT_FALSE(outputs.try_pop() || inputs.failed() || outputs.failed());
        EXPECT_EQ(refusal_of([&] { inputs.enqueue_load(stream_); }).code.category(),
                  cuda_category());
        EXPECT_EQ(refusal_of([&] { outputs.enqueue_store(stream_); }).code.category(),
                  cuda_category());
    }
    EXPECT_EQ(the_machine().held(), before);
}

BARMAP_OVER_KINDS_OF_MEMORY(step_test);

} // namespace
} // namespace barmap::contract
