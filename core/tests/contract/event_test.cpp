// SPDX-License-Identifier: MIT
#include "contract/machine.hpp"
#include "fake/faults.hpp"
#include "fake/gdrdrv_driver.hpp"
#include "shared/in_child.hpp"

#include <cerrno>
#include <poll.h>

/// Events of a pin: barmap's gdrdrv in callback mode.
namespace barmap::contract {
namespace {

constexpr char operation[] = "report when the GPU driver revokes memory";

class event_test : public testing::Test {
protected:
    void SetUp() override { set_environment("BARMAP_BACKEND", "gdrdrv"); }
    void TearDown() override { machine_.reset(); }

    void boot(fake::gdrdrv_driver::behaviour how = {.persistent = false, .events = true}) {
        machine_.emplace("580");
        driver_ = machine_->add<fake::gdrdrv_driver>(how);
        machine_->use();
    }

    [[nodiscard]] std::size_t descriptors() { return machine_->kernel().descriptors(); }
    static bool is_readable(pin const& pinned) {
        pollfd waiting{pinned.event_fd(), POLLIN, 0};
        return ::poll(&waiting, 1, 0) == 1 && (waiting.revents & POLLIN);
    }
    static void expect_event(pin const& pinned, std::uintptr_t address, std::size_t size,
                             std::uint64_t sequence, std::uint64_t lost = 0) {
        EXPECT_TRUE(is_readable(pinned));
        std::optional<pin_event> const event = pinned.next_event();
        ASSERT_TRUE(event);
        EXPECT_EQ(event->gpu_address, address);
        EXPECT_EQ(event->size, size);
        EXPECT_EQ(event->sequence, sequence);
        EXPECT_EQ(event->lost, lost);
    }

    std::shared_ptr<fake::gdrdrv_driver> driver_;

private:
    std::optional<machine> machine_;
};

TEST_F(event_test, tells_that_memory_was_taken_away) {
    boot();
    device_block const block(mib);
    device const gpu = device::open(0);
    EXPECT_TRUE(gpu.backends().front().events);
    pin const pinned = gpu.pin(block.address(), mib, {.events = true});
    EXPECT_FALSE(is_readable(pinned));
    EXPECT_FALSE(pinned.next_event());
    driver_->take_away();
    expect_event(pinned, block.address(), mib, 1);
    EXPECT_FALSE(is_readable(pinned)) << "it was taken";
    EXPECT_FALSE(pinned.next_event());
    EXPECT_TRUE(pinned.revoked());
}

TEST_F(event_test, tells_of_what_was_pinned_not_of_its_pages) {
    boot();
    device_block const block(mib);
    pin const pinned = device::open(0).pin(block.address() + 100, 1000, {.events = true});
    driver_->take_away();
    expect_event(pinned, block.address() + 100, 1000, 1);
}

TEST_F(event_test, tells_of_whole_pages_where_these_were_pinned) {
    boot();
    device_block const block(mib);
    pin pinned = device::open(0).pin(block.address() + gpu_page_size + 100, 1000,
                                     {.whole_pages = true, .events = true});
    pin const moved = std::move(pinned);
    driver_->take_away();
    expect_event(moved, block.address() + gpu_page_size, gpu_page_size, 1);
    expect_refusal([&] { (void)pinned.next_event(); }, errc::invalid_argument, operation);
}

TEST_F(event_test, tells_of_each_allocation_in_a_range) {
    boot();
    constexpr std::size_t chunk = virtual_block::granularity;
    virtual_block const block(0, {chunk, chunk, chunk});
    pin const pinned = device::open(0).pin(block.address() + 5, 2 * chunk + 10, {.events = true});
    driver_->take_away();
    expect_event(pinned, block.address() + 2 * chunk, 15, 1);
    expect_event(pinned, block.address() + chunk, chunk, 2);
    expect_event(pinned, block.address() + 5, chunk - 5, 3);
    EXPECT_FALSE(pinned.next_event());
}

TEST_F(event_test, pins_have_events_of_their_own) {
    boot();
    device_block const block(mib);
    device const gpu = device::open(0);
    pin const quiet = gpu.pin(block.address(), mib);
    pin const first = gpu.pin(block.address(), 100, {.events = true});
    pin const second = gpu.pin(block.address() + 200, 300, {.events = true});
    EXPECT_NE(first.event_fd(), second.event_fd());
    driver_->take_away();
    expect_event(second, block.address() + 200, 300, 1);
    expect_event(first, block.address(), 100, 1);
}

TEST_F(event_test, tells_of_lost_events) {
    boot();
    device_block const block(mib);
    pin const pinned = device::open(0).pin(block.address() + 7, 70, {.events = true});
    driver_->take_away();
    driver_->lose(5);
    expect_event(pinned, block.address() + 7, 70, 1);
    expect_event(pinned, block.address() + 7, 70, 6, 5);
}

TEST_F(event_test, an_unknown_event_is_not_taken_for_another) {
    boot();
    device_block const block(mib);
    pin const pinned = device::open(0).pin(block.address(), mib, {.events = true});
    driver_->tell_unknown();
    expect_refusal([&] { (void)pinned.next_event(); }, errc::unknown_layout,
                   "read an event of kind 3");
    driver_->take_away();
    expect_event(pinned, block.address(), mib, 2);
}

TEST_F(event_test, half_an_event_is_none) {
    boot();
    device_block const block(mib);
    pin const pinned = device::open(0).pin(block.address(), mib, {.events = true});
    driver_->tell_half();
    refusal const seen = refusal_of([&] { (void)pinned.next_event(); });
    EXPECT_EQ(seen.code, std::error_code(EIO, std::system_category())) << seen.text;
    EXPECT_NE(seen.text.find("read an event"), std::string::npos) << seen.text;
    driver_->take_away();
    expect_event(pinned, block.address(), mib, 1);
}

TEST_F(event_test, the_descriptor_goes_with_the_pin_and_its_mappings) {
    boot();
    device_block const block(mib);
    device const gpu = device::open(0);
    std::size_t const before = descriptors();
    std::optional<mapping> map;
    {
        pin const pinned = gpu.pin(block.address(), mib, {.events = true});
        EXPECT_EQ(descriptors(), before + 1);
        map = pinned.map();
    }
    expect_same_memory(*map, block.address(), 3);
    EXPECT_EQ(descriptors(), before + 1);
    map.reset();
    EXPECT_EQ(descriptors(), before);
}

TEST_F(event_test, each_call_may_fail_and_nothing_is_left) {
    boot();
    device_block const block(mib);
    device const gpu = device::open(0);
    std::size_t const before = descriptors(), pins = driver_->objects();
    unsigned failures = 0;
    for (unsigned n = 1;; ++n) {
        fake::the_faults().arm(fake::fault_source::system, n, EMFILE);
        try {
            pin const pinned = gpu.pin(block.address(), mib, {.events = true});
            (void)pinned.next_event();
        } catch (error const& failure) {
            EXPECT_EQ(failure.code(), std::errc::too_many_files_open);
            EXPECT_EQ(failure.backend(), "gdrdrv");
            ++failures;
        }
        bool const failed = !fake::the_faults().fired().empty();
        fake::the_faults().disarm();
        EXPECT_EQ(descriptors(), before);
        EXPECT_EQ(driver_->objects(), pins);
        if (!failed)
            break;
    }
    EXPECT_EQ(failures, 4u) << "opening, its version, pinning, reading an event";
}

TEST_F(event_test, a_pin_without_them_says_so) {
    boot();
    device_block const block(mib);
    pin const pinned = device::open(0).pin(block.address(), mib);
    expect_refusal([&] { (void)pinned.event_fd(); }, errc::invalid_argument, operation);
    expect_refusal([&] { (void)pinned.next_event(); }, errc::invalid_argument, operation);
    expect_refusal([] { (void)pin().event_fd(); }, errc::invalid_argument, operation);
}

TEST_F(event_test, a_forked_child_has_none) {
    boot();
    device_block const block(mib);
    pin const pinned = device::open(0).pin(block.address(), mib, {.events = true});
    driver_->take_away();
    expect_exit(0, in_child(1, [&] {
                    try {
                        (void)pinned.next_event();
                    } catch (error const& failure) {
                        ::_exit(failure.code() == errc::forked_child ? 0 : 2);
                    }
                }));
    expect_event(pinned, block.address(), mib, 1);
}

struct without {
    char const* name;
    fake::gdrdrv_driver::behaviour how;
};
class no_events_test : public event_test, public testing::WithParamInterface<without> {};

TEST_P(no_events_test, are_refused) {
    boot(GetParam().how);
    device_block const block(mib);
    device const gpu = device::open(0);
    EXPECT_FALSE(gpu.backends().front().events);
    expect_refusal([&] { (void)gpu.pin(block.address(), mib, {.events = true}); },
                   errc::unsupported_operation, operation, "use_persistent_mapping=0");
}

INSTANTIATE_TEST_SUITE_P(
    module, no_events_test,
    testing::Values(without{"persistent_mode", {.persistent = true, .events = true}},
                    without{"stock_module", {.persistent = false}},
                    without{"old_stock_module", {.minor = 4, .persistent = false}}),
    [](auto const& info) { return info.param.name; });

TEST_F(event_test, no_backend_takes_such_a_pin_and_keeps_silent) {
    set_environment("BARMAP_BACKEND", "auto");
    boot({.persistent = false});
    device_block const block(mib);
    device const gpu = device::open(0);
    expect_refusal([&] { (void)gpu.pin(block.address(), mib, {.events = true}); },
                   errc::unsupported_operation, operation);
    EXPECT_EQ(gpu.pin(block.address(), mib).backend(), "gdrdrv");
}

TEST_F(event_test, the_limit_of_a_user_is_told) {
    boot({.events = true, .max_user_pins = 3});
    device_block const block(mib);
    device const gpu = device::open(0);
    std::vector<pin> held;
    refusal const seen = refusal_of([&] {
        for (;;)
            held.push_back(gpu.pin(block.address(), mib));
    });
    EXPECT_EQ(seen.code, std::error_code(EDQUOT, std::system_category()));
    EXPECT_NE(seen.advice.find("max_user_pins"), std::string::npos) << seen.advice;
    EXPECT_NE(seen.advice.find("holds 3 of 3 pins"), std::string::npos) << seen.advice;
}

} // namespace
} // namespace barmap::contract
