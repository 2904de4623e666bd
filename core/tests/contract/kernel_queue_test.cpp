// SPDX-License-Identifier: MIT
#include "base/config.hpp"
#include "contract/batch_fixture.hpp"
#include "contract/checkpoint_of_cuda.hpp"
#include "contract/kernel_side.hpp"
#include "shared/in_child.hpp"

#include <barmap/checkpoint.hpp>
#include <barmap/kernel_queue.hpp>
#include <barmap/report.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

/// The queue that kernels feed, as a program has it, with a thread in the place of a warp.
namespace barmap::contract {
namespace {

struct kernel_queue_test : testing::Test {
    engine_machine machine{"channel"};
    device gpu = device::open(0);
    device_block block{mib};
    pinned_block host{mib};
    std::optional<kernel_queue> queue{std::in_place, gpu};

    [[nodiscard]] kernel_side::piece one(kernel_side::word bytes = 64) const {
        return {host.address(), block.address(), bytes};
    }
    void expect_to_copy() {
        std::vector<std::byte> const sent = pattern(64, ++seed_);
        expect_success(cuda::api().memcpy_htod(block.address(), sent.data(), sent.size()));
        kernel_side::warp_submitter copies(queue->handle_for_thread());
        kernel_side::word ticket = 0;
        ASSERT_EQ(copies.submit(
                      1, [&](unsigned) { return one(); }, ticket, {}, kernel_side::patience),
                  kernel_side::status::ok);
        ASSERT_EQ(copies.wait(ticket, kernel_side::patience), kernel_side::status::ok);
        EXPECT_TRUE(same_bytes(host.bytes().first(64), sent));
    }
    unsigned seed_ = 0;
};

TEST_F(kernel_queue_test, copies_and_is_made_new_by_a_restart) {
    expect_to_copy();
    EXPECT_FALSE(kernel_side::code_of([&] { queue->check(); }));
    auto const before = queue->handle();
    queue->restart();
    EXPECT_EQ(queue->handle().layout, before.layout);
    expect_to_copy();
    kernel_queue other(gpu); // several at once
    EXPECT_NE(other.handle().token, queue->handle().token);
    kernel_queue moved(std::move(other));
    EXPECT_NE(moved.c_handle(), nullptr);
}

TEST_F(kernel_queue_test, is_rung_by_the_cpu_where_the_environment_says_so) {
    EXPECT_FALSE(queue->is_rung_by_cpu());
    ASSERT_EQ(::setenv("BARMAP_DOORBELL", "cpu", 1), 0);
    config::read_again();
    queue->restart();
    EXPECT_TRUE(queue->is_rung_by_cpu());
    expect_to_copy();
    kernel_queue const shared(gpu, {.is_shared = true});
    EXPECT_NE(shared.handle().sharing, nullptr);
    ASSERT_EQ(::setenv("BARMAP_DOORBELL", "mailman", 1), 0);
    config::read_again();
    EXPECT_EQ(kernel_side::code_of([] { expect_settings(); }), errc::invalid_argument);
    ::unsetenv("BARMAP_DOORBELL");
    config::read_again();
}

TEST_F(kernel_queue_test, says_that_the_channel_has_stopped_until_it_is_restarted) {
    {
        kernel_side::warp_submitter copies(queue->handle_for_thread());
        kernel_side::word ticket = 0;
        ASSERT_EQ(copies.submit(
                      1,
                      [&](unsigned) {
                          return kernel_side::piece{host.address(), 0x1000, 4};
                      },
                      ticket),
                  kernel_side::status::ok);
        std::string what;
        while (!kernel_side::code_of([&] { queue->check(); }, &what))
            std::this_thread::yield();
        EXPECT_NE(what.find("error 31"), std::string::npos) << what;
        EXPECT_NE(what.find("restart"), std::string::npos) << what;
        EXPECT_EQ(kernel_side::code_of([&] { queue->check(); }), errc::copy_unfinished) << "again";
        EXPECT_EQ(kernel_side::code_of([&] { (void)queue->handle(); }), errc::backend_broken);
        EXPECT_EQ(copies.wait(ticket, kernel_side::patience), kernel_side::status::failed);
    }
    queue->restart();
    EXPECT_FALSE(kernel_side::code_of([&] { queue->check(); }));
    expect_to_copy();
}

TEST_F(kernel_queue_test, a_list_in_memory_is_copied_however_long) {
    std::vector<std::byte> const sent = pattern(mib, 5);
    expect_success(cuda::api().memcpy_htod(block.address(), sent.data(), mib));
    for (kernel_side::word count :
         {kernel_side::word{0}, kernel_side::word{1}, kernel_side::word{4096},
          kernel_side::word{4097}, kernel_side::word{10'000}}) {
        std::vector<kernel_side::piece> list;
        for (kernel_side::word i = 0; i < count; ++i)
            list.push_back({host.address() + i * 100, block.address() + i * 100, 100});
        std::ranges::fill(host.bytes(), std::byte{0});
        kernel_side::task const task{queue->handle_for_thread(), list.data(), &count, 10'000,
                                     kernel_side::patience};
        EXPECT_EQ(kernel_side::submit_and_wait(task), kernel_side::status::ok) << count;
        EXPECT_TRUE(
            same_bytes(host.bytes().first(count * 100), std::span(sent).first(count * 100)));
        EXPECT_FALSE(kernel_side::code_of([&] { queue->check(); }));
    }
}

TEST_F(kernel_queue_test, what_a_list_meets_is_told_once_by_check) {
    auto const expect = [&](kernel_side::status wanted, std::string_view text,
                            kernel_side::word count, kernel_side::word bytes,
                            kernel_side::word nanoseconds) {
        kernel_side::piece const piece = one(bytes);
        kernel_side::task const task{queue->handle_for_thread(), &piece, &count, 1, nanoseconds};
        EXPECT_EQ(kernel_side::submit_and_wait(task), wanted);
        std::string what;
        EXPECT_EQ(kernel_side::code_of([&] { queue->check(); }, &what), errc::copy_unfinished);
        EXPECT_NE(what.find(text), std::string::npos) << what;
        EXPECT_FALSE(kernel_side::code_of([&] { queue->check(); })) << "once";
    };
    expect(kernel_side::status::invalid, "more pieces than its room", 2, 64, kernel_side::patience);
    expect(kernel_side::status::invalid_piece, "longer than 1 GiB", 1,
           (kernel_side::word{1} << 30) + 1, kernel_side::patience);
    machine.gpu().hold(own_engine);
    expect(kernel_side::status::timed_out, "did not copy an enqueued list in its time", 1, 64,
           1000);
    machine.gpu().release();
    kernel_side::warp_submitter const holder(queue->handle_for_thread());
    expect(kernel_side::status::busy, "waited too long for the queue", 1, 64, 1000);
}

TEST_F(kernel_queue_test, of_a_long_list_all_but_pieces_that_are_too_long_is_copied) {
    std::vector<std::byte> const sent = pattern(mib, 5);
    expect_success(cuda::api().memcpy_htod(block.address(), sent.data(), mib));
    kernel_side::word const count = 10'000;
    std::vector<kernel_side::piece> list;
    for (kernel_side::word i = 0; i < count; ++i)
        list.push_back({host.address() + i * 100, block.address() + i * 100, 100});
    for (std::size_t i : {5u, 5000u})
        list[i].bytes = kernel_side::queue::most_bytes + 1;
    std::ranges::fill(host.bytes(), std::byte{0});
    EXPECT_EQ(kernel_side::submit_and_wait(
                  {queue->handle_for_thread(), list.data(), &count, count, kernel_side::patience}),
              kernel_side::status::invalid_piece);
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(
            same_bytes(host.bytes().subspan(i * 100, 100), std::span(sent).subspan(i * 100, 100)),
            i != 5 && i != 5000)
            << i;
}

TEST_F(kernel_queue_test, refuses_addresses_that_no_list_has) {
    std::uint64_t const count = 1;
    copy_piece const piece{};
    auto const* const odd =
        reinterpret_cast<std::uint64_t const*>(reinterpret_cast<std::uintptr_t>(&count) + 4);
    EXPECT_EQ(kernel_side::code_of([&] { queue->enqueue(nullptr, &count, 1, 1s, nullptr); }),
              errc::invalid_argument);
    EXPECT_EQ(kernel_side::code_of([&] { queue->enqueue(&piece, nullptr, 1, 1s, nullptr); }),
              errc::invalid_argument);
    EXPECT_EQ(kernel_side::code_of([&] { queue->enqueue(&piece, odd, 1, 1s, nullptr); }),
              errc::invalid_argument);
}

TEST_F(kernel_queue_test, is_released_for_a_checkpoint_and_made_new_after_it) {
    expect_to_copy();
    {
        kernel_side::warp_submitter const holder(queue->handle_for_thread());
        EXPECT_EQ(kernel_side::code_of([] { checkpoint_prepare(10ms); }), errc::copy_unfinished)
            << "a warp has the queue";
    }
    checkpoint_prepare();
    EXPECT_EQ(machine->held().driver_objects, 0u);
    EXPECT_EQ(kernel_side::code_of([&] { (void)queue->handle(); }), errc::checkpointed);
    EXPECT_EQ(kernel_side::code_of([&] { queue->check(); }), errc::checkpointed);
    EXPECT_EQ(kernel_side::code_of([&] { queue->restart(); }), errc::checkpointed);
    EXPECT_EQ(kernel_side::code_of([&] { kernel_queue const other(gpu); }), errc::checkpointed);
    checkpoint_of_cuda::whole();
    checkpoint_restore();
    EXPECT_FALSE(kernel_side::code_of([&] { queue->check(); }));
    expect_to_copy();
}

TEST_F(kernel_queue_test, a_forked_child_is_refused_and_may_only_drop_it) {
    expect_exit(7, in_child(7, [&] {
                    auto const is_refused = [&](auto action) {
                        return kernel_side::code_of(action) == errc::forked_child;
                    };
                    if (!is_refused([&] { (void)queue->handle(); }) ||
                        !is_refused([&] { queue->check(); }) ||
                        !is_refused([&] { queue->restart(); }) ||
                        !is_refused([&] { kernel_queue const other(gpu); }))
                        ::_exit(1);
                    queue.reset();
                }));
    expect_to_copy();
}

TEST(kernel_queue, is_refused_with_the_reason_where_kernels_reach_no_doorbell) {
    engine_machine machine("channel", {.series = 570, .chip = "GA100"});
    device const gpu = device::open(0);
    std::string what;
    EXPECT_EQ(kernel_side::code_of([&] { kernel_queue const made(gpu); }, &what),
              errc::backend_absent);
    EXPECT_NE(what.find("before Hopper"), std::string::npos) << what;
}

} // namespace
} // namespace barmap::contract
