// SPDX-License-Identifier: MIT
#include "other_run.hpp"
#include "signal_messages.hpp"
#include "system/fd.hpp"
#include "test_kernels.hpp"

#include <barmap/counter.hpp>
#include <barmap/ring.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <dlfcn.h>
#include <string>
#include <unistd.h>
#include <vector>

/// Rings and counters between kernels of this process and another process, which has nothing of
/// CUDA.
namespace barmap::gpu_test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using gpu::word;

/// Of the kernel that answers: barmap_test_server.
word answer_to(word number) {
    return number * 5 * 3;
}
reading question(word number) {
    return reading_of(number * 5);
}

/// What another process is told to do, and what it found.
struct task {
    word messages, trips;
};
struct findings {
    word wrong, sum;
    double median_us, p99_us;
};

bool has_cuda() {
    return ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr;
}

/// Both rings of a line, opened.
struct opened_rings {
    explicit opened_rings(line const& to_owner)
        : there(ring_to_gpu<reading>::open_shared(os::fd(to_owner.receive_descriptor()).get())),
          back(ring_to_cpu<reading>::open_shared(os::fd(to_owner.receive_descriptor()).get())) {}
    ring_to_gpu<reading> there;
    ring_to_cpu<reading> back;

    /// @return how many answers were popped
    word pop_all(findings& seen) {
        word count = 0;
        for (word number = back.number();; ++number, ++count) {
            auto const found = back.try_pop();
            if (!found)
                return count;
            seen.wrong += !is_whole(*found) || found->words[0] != answer_to(number);
            seen.sum += found->words[0];
        }
    }
    void push_some(word last) {
        while (there.number() < last && there.try_push(question(there.number()))) {
        }
        there.flush();
    }
};

/// Not a test: another process.
TEST(ring_feed, DISABLED_pushes_and_pops) {
    line const to_owner(line_of_this_run);
    opened_rings rings(to_owner);
    task wanted{};
    ASSERT_TRUE(to_owner.receive(&wanted, sizeof wanted));
    findings seen{};
    while (rings.back.number() < wanted.messages) {
        rings.push_some(wanted.messages);
        if (!rings.back.wait_for(10s))
            break;
        rings.pop_all(seen);
    }
    std::vector<double> trips;
    for (word i = 0; i < wanted.trips; ++i) {
        auto const begin = clock::now();
        rings.push_some(rings.there.number() + 1);
        if (!rings.back.wait_for(10s))
            break;
        word const popped = rings.pop_all(seen);
        trips.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
        seen.wrong += popped != 1;
    }
    if (!trips.empty()) {
        std::ranges::sort(trips);
        seen.median_us = trips[trips.size() / 2];
        seen.p99_us = trips[trips.size() * 99 / 100];
    }
    seen.wrong += rings.back.number() != wanted.messages + wanted.trips;
    rings.there.close(); // the kernel ends
    to_owner.send(&seen, sizeof seen);
    ::_exit(HasFailure() || has_cuda());
}

/// Not a test: another process, which goes on until it is killed, or the line ends.
TEST(ring_feed, DISABLED_goes_on) {
    line const to_owner(line_of_this_run);
    opened_rings rings(to_owner);
    // By it the owner says that it wants no more.
    auto const stop = counter_to_cpu::open_shared(os::fd(to_owner.receive_descriptor()).get());
    findings seen{};
    word const begun = 1;
    to_owner.send(&begun, sizeof begun);
    while (!stop.is_at_least(1)) {
        rings.push_some(~word{0});
        rings.pop_all(seen);
    }
    while (rings.back.number() != rings.there.number() && rings.back.wait_for(10s))
        rings.pop_all(seen);
    seen.wrong += rings.back.number() != rings.there.number();
    rings.there.close();
    to_owner.send(&seen, sizeof seen);
    ::_exit(HasFailure() || has_cuda());
}

class shared_signal_gpu : public real_gpu {
protected:
    /// A kernel that answers, by rings in memory that can be shared.
    struct server {
        explicit server(std::size_t slots)
            : memory(device::open(0), 1 << 20, 1 << 20, "rm"), in(memory, slots),
              out(memory, slots) {
            kernels.launch("barmap_test_server", 1, in.handle(), out.handle(), kernels.wrong());
        }
        void send_to(line const& other) {
            other.send_descriptor(os::fd(in.share()).get());
            other.send_descriptor(os::fd(out.share()).get());
        }
        test_kernels kernels;
        arena memory;
        ring_to_gpu<reading> in;
        ring_to_cpu<reading> out;
    };
};

TEST_F(shared_signal_gpu, no_message_is_wrong_in_another_process) {
    task const wanted{rounds(1'000'000), 20'000};
    other_run other("ring_feed.DISABLED_pushes_and_pops");
    server kernel(1024);
    kernel.send_to(other);
    other.send(&wanted, sizeof wanted);
    findings seen{1, 0, 0, 0};
    bool const has_come = other.receive(&seen, sizeof seen);
    kernel.in.close(); // if it could not
    ASSERT_TRUE(has_come);
    EXPECT_EQ(seen.wrong, 0u);
    word const count = wanted.messages + wanted.trips;
    EXPECT_EQ(seen.sum, count * (count - 1) / 2 * 15);
    EXPECT_EQ(other.wait(), 0) << "it has loaded CUDA";
    kernel.kernels.expect_nothing_wrong();
    std::printf("round trip of 160 B and 160 B: median %.2f us, p99 %.2f us\n", seen.median_us,
                seen.p99_us);
    RecordProperty("round_trip_median_us", std::to_string(seen.median_us));
    RecordProperty("round_trip_p99_us", std::to_string(seen.p99_us));
}

TEST_F(shared_signal_gpu, killed_processes_go_on_for_each_other) {
    server kernel(64);
    counter_to_cpu const stop(kernel.memory);
    auto const start = [&](other_run const& other) {
        kernel.send_to(other);
        other.send_descriptor(os::fd(stop.share()).get());
        word begun = 0;
        EXPECT_TRUE(other.receive(&begun, sizeof begun));
    };
    for (word i = 0; i < rounds(10); ++i) {
        other_run other("ring_feed.DISABLED_goes_on");
        start(other);
        ::usleep(static_cast<unsigned>(1'000 + 137 * i % 5'000));
        other.kill();
    }
    other_run last("ring_feed.DISABLED_goes_on");
    start(last);
    stop.record(nullptr, 1); // by a stream, behind which is nothing
    findings seen{1, 0, 0, 0};
    bool const has_come = last.receive(&seen, sizeof seen);
    kernel.in.close();
    ASSERT_TRUE(has_come);
    EXPECT_EQ(seen.wrong, 0u);
    EXPECT_EQ(last.wait(), 0) << "it has loaded CUDA";
    kernel.kernels.expect_nothing_wrong();
}

} // namespace
} // namespace barmap::gpu_test
