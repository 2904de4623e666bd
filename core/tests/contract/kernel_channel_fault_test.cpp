// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/kernel_channel.hpp"

#include "contract/batch_fixture.hpp"
#include "contract/kernel_side.hpp"
#include "fake/faults.hpp"

#include <cerrno>
#include <cstddef>
#include <optional>
#include <pthread.h>
#include <set>
#include <string>
#include <utility>

/// Queues for kernels where the driver or the system refuses, or answers wrongly.
namespace barmap::contract {
namespace {

// Each call fails in turn, of the system, of RM and of CUDA: the constructor then throws, or does
// without, and leaves nothing behind.
TEST(kernel_channel_faults, are_errors_and_leave_nothing) {
    engine_machine machine("channel");
    device const gpu = device::open(0);
    { engine::kernel_channel const first(identify(0), {}); }
    std::size_t const before = machine.driver().objects();
    std::set<std::string> refused;
    for (auto const& [source, number] :
         {std::pair(fake::fault_source::status, 0x1f),
          std::pair(fake::fault_source::system, ENOMEM), std::pair(fake::fault_source::cuda, 2)})
        for (unsigned which = 1;; ++which) {
            fake::the_faults().arm(source, which, number);
            bool const has_thrown = static_cast<bool>(
                kernel_side::code_of([] { engine::kernel_channel const made(identify(0), {}); }));
            std::string const call = fake::the_faults().fired();
            fake::the_faults().disarm();
            EXPECT_EQ(machine.driver().objects(), before) << which << " " << call;
            if (call.empty())
                break;
            if (has_thrown)
                refused.insert(call);
        }
    for (char const* call : {"UVM register", "UVM create range", "UVM map", "ioctl"})
        EXPECT_TRUE(refused.contains(call)) << call;
}

// As on GPUs without an ordinary link, whose doorbell UVM refuses to map.
TEST(kernel_channel_faults, the_cpu_rings_where_the_doorbell_cannot_be_mapped) {
    engine_machine machine("channel");
    device const gpu = device::open(0);
    std::string call = "none";
    for (unsigned which = 1; call != "UVM map"; ++which) {
        ASSERT_FALSE(call.empty()) << "it was not mapped";
        fake::the_faults().arm(fake::fault_source::status, which, 0x56);
        std::optional<engine::kernel_channel> made;
        std::string what;
        (void)kernel_side::code_of(
            [&] {
                made.emplace(identify(0), engine::kernel_channel::form{.or_rung_by_cpu = true});
            },
            &what);
        call = fake::the_faults().fired();
        fake::the_faults().disarm();
        if (call == "UVM map") {
            ASSERT_TRUE(made) << what;
            EXPECT_TRUE(made->is_rung_by_cpu());
        }
    }
}

// The mapping succeeds, and leads elsewhere.
TEST(kernel_channel_faults, a_doorbell_that_starts_nothing_is_not_used) {
    engine_machine machine("channel", {.maps_other_doorbell = true});
    device const gpu = device::open(0);
    std::string what;
    EXPECT_EQ(
        kernel_side::code_of([] { engine::kernel_channel const made(identify(0), {}); }, &what),
        errc::backend_broken);
    EXPECT_NE(what.find("or_rung_by_cpu"), std::string::npos) << what;
    std::size_t const before = machine.driver().objects();
    {
        engine::kernel_channel const made(identify(0), {.or_rung_by_cpu = true});
        EXPECT_TRUE(made.is_rung_by_cpu());
        kernel_side::warp_submitter copies(made.queue_for_thread());
        pinned_block const host(4096);
        kernel_side::word ticket = 0;
        ASSERT_EQ(copies.submit(
                      1,
                      [&](unsigned) {
                          return kernel_side::piece{host.address(), host.address() + 2048, 4};
                      },
                      ticket),
                  kernel_side::status::ok);
        EXPECT_EQ(copies.wait(ticket, kernel_side::patience), kernel_side::status::ok);
    }
    EXPECT_EQ(machine.driver().objects(), before);
}

TEST(kernel_channel_faults, without_a_thread_the_error_says_what_to_do) {
    engine_machine machine("channel");
    device const gpu = device::open(0);
    { engine::kernel_channel const first(identify(0), {}); }
    std::size_t const before = machine.driver().objects();
    pthread_attr_t usual, huge;
    ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
    ::pthread_attr_init(&huge);
    ASSERT_EQ(::pthread_attr_setstacksize(&huge, std::size_t{1} << 46), 0); // there is no room
    ASSERT_EQ(::pthread_setattr_default_np(&huge), 0);
    std::string what;
    auto const code =
        kernel_side::code_of([] { engine::kernel_channel const made(identify(0), {}); }, &what);
    ASSERT_EQ(::pthread_setattr_default_np(&usual), 0);
    EXPECT_EQ(code, errc::backend_broken);
    EXPECT_NE(what.find("limit of threads"), std::string::npos) << what;
    EXPECT_EQ(machine.driver().objects(), before);
}

} // namespace
} // namespace barmap::contract
