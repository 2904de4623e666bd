// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"
#include "contract/exchanged_handles.hpp"
#include "cuda/address_ranges.hpp"
#include "cuda/stream_gpu.hpp"
#include "shared/in_child.hpp"

#include <barmap/counter.hpp>
#include <barmap/step_tensors.hpp>

#include <atomic>
#include <span>
#include <thread>
#include <unistd.h>

/// Handles that are moved from, temporary, or opened while something else goes on.
namespace barmap::contract {
namespace {

// A window of a mapping that ends with the statement would dangle.
template <class Mapping>
constexpr bool gives_windows = requires(Mapping map) {
    static_cast<Mapping>(map).window();
    static_cast<Mapping>(map).window(0, 8);
};
static_assert(gives_windows<mapping&> && gives_windows<mapping const&>);
static_assert(!gives_windows<mapping> && !gives_windows<mapping const>);

class handle_test : public testing::Test {
protected:
    void SetUp() override {
        set_environment("BARMAP_BACKEND", "dmabuf");
        set_environment("BARMAP_SIM_DEVICES", "2");
        machine_.emplace("610");
    }
    void TearDown() override {
        cuda::replace_api(nullptr);
        machine_.reset();
    }

    /// From now on the driver says the name of a GPU only after release(), to who asks first.
    static void hold_first_opening() {
        static cuda::driver_api table;
        static decltype(cuda::driver_api::device_get_name) real;
        table = cuda::api();
        real = table.device_get_name;
        held_ = released_ = false;
        table.device_get_name = [](char* name, int bytes, CUdevice device) {
            if (!held_.exchange(true))
                while (!released_)
                    std::this_thread::yield();
            return real(name, bytes, device);
        };
        cuda::replace_api(&table);
    }
    static void await_held() {
        while (!held_)
            std::this_thread::yield();
    }
    static void release() { released_ = true; }

    void use_gpu_0() { machine_->use(0); }

private:
    static inline std::atomic<bool> held_, released_;
    std::optional<machine> machine_;
};

TEST_F(handle_test, a_device_that_was_moved_from_is_as_good_as_before) {
    device first = device::open(0);
    device const second = std::move(first);
    EXPECT_EQ(first.name(), second.name());
    EXPECT_EQ(first.allocate(kib).size(), kib);
}

TEST_F(handle_test, pins_take_options_however_the_address_is_given) {
    device const gpu = device::open(0);
    pin const memory = gpu.allocate(mib);
    std::uintptr_t const address = memory.gpu_address();
    EXPECT_EQ(gpu.pin(address, kib, {}).size(), kib);
    EXPECT_EQ(gpu.pin(reinterpret_cast<void*>(address), kib, {}).size(), kib);
    EXPECT_EQ(
        gpu.pin(reinterpret_cast<void*>(address), kib, pin_options{.backend = "dmabuf"}).backend(),
        "dmabuf");
    pin_options kept;
    kept.backend = std::string("dma") + "buf"; // which ends before the options do
    EXPECT_EQ(gpu.pin(address, kib, kept).backend(), "dmabuf");
}

TEST_F(handle_test, a_child_forked_while_a_gpu_is_opened_is_refused) {
    hold_first_opening();
    std::thread other([] { (void)device::open(0); });
    await_held();
    expect_exit(0, in_child(3, [] {
                    ::alarm(20);
                    try {
                        (void)device::open(0);
                    } catch (error const& failure) {
                        ::_exit(failure.code() == errc::forked_child ? 0 : 2);
                    }
                }));
    release();
    other.join();
}

TEST_F(handle_test, a_gpu_that_hangs_on_a_thread_keeps_no_other_from_being_opened) {
    hold_first_opening();
    std::thread other([] { (void)device::open(0); });
    await_held();
    EXPECT_EQ(device::open(1).ordinal(), 1);
    release();
    other.join();
}

TEST_F(handle_test, a_gpu_is_named_to_the_driver_by_its_handle) {
    exchanged_handles const exchanged;
    std::thread([&] { // without a context
        device const gpu = device::open(0);
        barmap::arena const words(gpu, 4096, 4096);
        counter_to_gpu const counter(words);
        counter.wait(nullptr, 0);
        pin const memory = gpu.allocate(4096);
        step_tensor const tensor{memory.gpu_address(), 64};
        step_inputs const steps(gpu, std::span(&tensor, 1), 2);
    }).join();
    EXPECT_GT(exchanged.retained[1], 0u);
    EXPECT_EQ(exchanged.retained[0], 0u);
}

TEST_F(handle_test, the_gpu_of_a_handle_is_told_by_its_ordinal) {
    use_gpu_0();
    device_block const block(mib);
    open_stream const stream; // of handle 0
    exchanged_handles const exchanged;
    EXPECT_EQ(device::current_ordinal(), 1);
    EXPECT_EQ(cuda::ordinal_of(stream.get()), 1);
    EXPECT_EQ(cuda::find_range(0, block.address()).side, cuda::memory_side::gpu);
    EXPECT_EQ(cuda::find_range(1, block.address()).side, cuda::memory_side::apart);
    batch_queue queue = device::open(0).batch_queue();
    expect_refusal([&] { (void)queue.submit({}, after{stream.get()}); }, errc::wrong_device,
                   "the stream belongs to GPU 1, the batch queue to GPU 0");
}

} // namespace
} // namespace barmap::contract
