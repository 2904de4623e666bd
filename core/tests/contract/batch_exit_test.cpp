// SPDX-License-Identifier: MIT
#include "contract/batch_fixture.hpp"

#include <chrono>
#include <cstdlib>
#include <malloc.h>

/// Batches of code that runs when the thread has destroyed what it kept.
namespace barmap::contract {
namespace {

batch_program* the_program = nullptr;

// Never destroyed.
auto& list = *new std::vector<copy_piece>;
auto& wanted = *new std::vector<std::byte>;

/// Submits a batch, and ends the process where it does not copy. The thread has no context.
void submit_late() {
    while (!the_program->queue.wait(the_program->queue.submit(list), 1s)) {
    }
    if (!same_bytes(the_program->host.bytes(), wanted))
        std::_Exit(3);
}

struct late_object {
    ~late_object() { submit_late(); }
};

/// Fills what malloc keeps of freed memory without a change to it.
void fill_cache() {
    std::vector<void*> all;
    for (std::size_t bytes = 16; bytes <= 1024; bytes += 16)
        for (int i = 0; i < 7; ++i)
            all.push_back(std::malloc(bytes));
    for (void* const each : all)
        std::free(each);
}

/// Ends the process by exit(), when this thread has submitted batches.
template <class Prepare, class Finish>
[[noreturn]] void exit_with(Prepare prepare, Finish finish) {
    (void)::mallopt(M_PERTURB, 0x5a); // what is freed has other bytes at once
    prepare();
    (void)new engine_machine("channel"); // neither ends before the process
    the_program = new batch_program;
    the_program->expect_to_work(1);
    list = the_program->pieces(100, 200);
    write_by_driver(the_program->block.address(), pattern(batch_program::size, 5));
    wanted = the_program->host_after(list, pattern(batch_program::size, 6),
                                     pattern(batch_program::size, 5));
    the_program->host.fill(pattern(batch_program::size, 6));
    finish();
    fill_cache();
    std::exit(testing::Test::HasFailure() ? 2 : 0);
}

class batch_exit_test : public testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void nothing() {}

TEST_F(batch_exit_test, a_function_of_atexit_submits) {
    EXPECT_EXIT(exit_with(nothing, [] { std::atexit(submit_late); }), testing::ExitedWithCode(0),
                "");
}

TEST_F(batch_exit_test, the_destructor_of_a_static_object_submits) {
    EXPECT_EXIT(exit_with(nothing, [] { static late_object const last; }),
                testing::ExitedWithCode(0), "");
}

TEST_F(batch_exit_test, the_destructor_of_another_thread_local_object_submits) {
    EXPECT_EXIT(exit_with(
                    [] {
                        static thread_local late_object const first; // so it is destroyed last
                        (void)&first;
                    },
                    nothing),
                testing::ExitedWithCode(0), "");
}

/// Ends the process by exit() with a static handle, while a batch waits for a stream for ever.
[[noreturn]] void exit_before_a_stream(char const* engine) {
    // It and the memory do not end before the process.
    static auto const& machine = *new engine_machine(engine);
    (void)machine;
    static batch_queue handle = device::open(0).batch_queue();
    static auto const& host = *new pinned_block(mib);
    static auto const& block = *new device_block(mib);
    static auto const& held = *new gated_stream;
    (void)handle.submit(std::vector<copy_piece>{{host.address(), block.address(), 100}},
                        after{held.get()});
    std::exit(0);
}

TEST_F(batch_exit_test, a_static_handle_waits_for_a_stream_no_longer_than_two_seconds) {
    for (char const* const engine : {"driver", "channel"}) {
        SCOPED_TRACE(engine);
        auto const begin = std::chrono::steady_clock::now();
        EXPECT_EXIT(exit_before_a_stream(engine), testing::ExitedWithCode(0), "");
        EXPECT_GE(std::chrono::steady_clock::now() - begin, 2s) << "it does wait";
    }
}

} // namespace
} // namespace barmap::contract
