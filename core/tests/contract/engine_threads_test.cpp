// SPDX-License-Identifier: MIT
#include "contract/engine_machine.hpp"
#include "contract/machine.hpp"
#include "transfer/engine/engine_reach.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

/// Threads that meet where an engine of copies is started, reaches memory or is given up.
namespace barmap::contract {
namespace {

/// Runs `meanwhile` before each of CUDA's copies to the GPU.
class copy_hook : changed_driver {
public:
    explicit copy_hook(std::function<void()> meanwhile) {
        run_ = std::move(meanwhile);
        (*this)->memcpy_async = [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                   CUstream stream) {
            run_();
            return real.memcpy_async(to, from, bytes, stream);
        };
    }

private:
    static inline std::function<void()> run_;
};

TEST(engine_threads_test, memory_is_mapped_while_another_thread_measures_engines) {
    engine_machine machine(nullptr, {.chip = fake::rm::unknown_chip}); // without a channel
    device const gpu = device::open(0);
    device_block block(mib);
    pin const pinned = gpu.pin(block.address(), mib);
    mapping const map = pinned.map();
    std::future<std::size_t> mapped;
    copy_hook const hook([&] {
        auto const started = gpu.started_engines();
        bool const is_tested = std::ranges::any_of(
            started, [](engine_report const& each) { return each.name == "driver"; });
        if (mapped.valid() || !is_tested) // its self-test copies as well
            return;
        mapped = std::async(std::launch::async, [&] { return pinned.map().size(); });
        EXPECT_EQ(mapped.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    });
    std::vector<std::byte> host(64 * kib);
    map.copy_to_gpu(0, host);
    ASSERT_TRUE(mapped.valid()) << "nothing was measured";
    EXPECT_EQ(mapped.get(), mib);
}

/// Runs `meanwhile` once, when CUDA is next asked what a pointer is.
class pointer_hook : changed_driver {
public:
    explicit pointer_hook(std::function<void()> meanwhile) {
        run_ = std::move(meanwhile);
        (*this)->pointer_get_attribute = [](void* value, int name, CUdeviceptr pointer) {
            if (auto const run = std::exchange(run_, nullptr))
                run();
            return real.pointer_get_attribute(value, name, pointer);
        };
    }

private:
    static inline std::function<void()> run_;
};

TEST(engine_threads_test, who_comes_while_an_engine_reaches_memory_takes_what_it_reaches) {
    engine_machine machine("driver");
    engine::gpu const gpu = identify(0);
    engine_slot slot(engine::registry().back(), gpu, engine::lane::held);
    slot.require();
    device_block const block(mib);
    engine_reach memory;
    memory.describe(cuda::describe(block.address(), mib), {}, engine_reach::owner::barmap);
    std::future<std::shared_ptr<engine_reach::reached const>> other;
    pointer_hook const hook([&] {
        other = std::async(std::launch::async, [&] { return memory.find(slot); });
        other.wait_for(std::chrono::milliseconds(100)); // it should not come so far
    });
    auto const found = memory.find(slot);
    ASSERT_TRUE(found && found->memory);
    EXPECT_EQ(other.get(), found);
}

// Its copies may fail in several threads at once.
TEST(engine_threads_test, an_engine_that_several_threads_give_up_has_failed_once) {
    engine_machine machine("driver");
    engine::gpu const gpu = identify(0);
    engine_slot slot(engine::registry().back(), gpu, engine::lane::held);
    std::shared_ptr<engine::worker> const failed = slot.get();
    ASSERT_TRUE(failed);
    for (int thread = 0; thread < 3; ++thread)
        slot.give_up(failed, "a copy did not end in time");
    std::shared_ptr<engine::worker> const next = slot.get();
    EXPECT_TRUE(next && next != failed);
    EXPECT_EQ(slot.report().failures, 1u);
    slot.give_up(failed, "a copy did not end in time");
    EXPECT_EQ(slot.get(), next);
    EXPECT_EQ(slot.report().failures, 1u);
}

} // namespace
} // namespace barmap::contract
