// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"

#include <atomic>
#include <csignal>
#include <sys/wait.h>
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
        machine_.emplace("610", [](fake::kernel&) { return [] { return std::size_t{0}; }; });
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
    pid_t const child = ::fork();
    if (child == 0) {
        ::alarm(20);
        try {
            (void)device::open(0);
        } catch (error const& failure) {
            ::_exit(failure.code() == errc::forked_child ? 0 : 2);
        }
        ::_exit(3);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
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

} // namespace
} // namespace barmap::contract
