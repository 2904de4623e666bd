// SPDX-License-Identifier: MIT
// The kernels of signal_test, as packaging/make_ptx.cmake compiles them.
#include "signal_messages.hpp"

#include <barmap/gpu/counter.cuh>
#include <barmap/gpu/log.cuh>
#include <barmap/gpu/ring.cuh>

using barmap::gpu_test::is_whole;
using barmap::gpu_test::reading;
using barmap::gpu_test::reading_of;
namespace gpu = barmap::gpu;
using gpu::status;
using gpu::word;

namespace {

constexpr word patience = 10'000'000'000; // ns

__device__ unsigned block() {
    unsigned number;
    asm("mov.u32 %0, %%ctaid.x;" : "=r"(number));
    return number;
}
__device__ unsigned blocks() {
    unsigned count;
    asm("mov.u32 %0, %%nctaid.x;" : "=r"(count));
    return count;
}
__device__ void trap() {
    asm volatile("trap;");
}

} // namespace

// Counts in `wrong` what is not as it should be, and every kernel does so. One thread in each.
extern "C" BARMAP_KERNEL void barmap_test_counters(gpu::counter_to_gpu in, gpu::counter_to_cpu out,
                                                   word first, word rounds, word* in_gpu,
                                                   word* in_host, word* wrong) {
    for (word i = 1; i <= rounds; ++i) {
        if (gpu::wait_for(in, first + i, patience) != status::ok) {
            gpu::add(wrong, 1);
            return;
        }
        if (gpu::load_relaxed(in_gpu) != i * 3)
            gpu::add(wrong, 1);
        gpu::store_relaxed(in_host, i * 7);
        gpu::advance(out, first + i);
    }
}

// Of many blocks, each stores to its own word of host memory and arrives.
extern "C" BARMAP_KERNEL void barmap_test_arrivals(gpu::counter_to_gpu go, gpu::counter_to_cpu done,
                                                   word rounds, word* in_host, word* wrong) {
    for (word i = 1; i <= rounds; ++i) {
        gpu::store_relaxed(in_host + block(), i);
        gpu::arrive(done, blocks());
        if (gpu::wait_for(go, i, patience) != status::ok) {
            gpu::add(wrong, 1);
            return;
        }
    }
}

// Answers each message, until the CPU closes the ring.
extern "C" BARMAP_KERNEL void barmap_test_server(gpu::ring_to_gpu<reading> in,
                                                 gpu::ring_to_cpu<reading> out, word* wrong) {
    gpu::consumer<reading> from(in);
    gpu::producer<reading> to(out);
    reading asked;
    status found;
    while ((found = from.pop(asked, patience)) == status::ok)
        if (!is_whole(asked) || to.push(reading_of(asked.words[0] * 3), patience) != status::ok)
            gpu::add(wrong, 1);
    if (found != status::closed)
        gpu::add(wrong, 1);
}

// A step of a graph: one message in, one out.
extern "C" BARMAP_KERNEL void barmap_test_step(gpu::ring_to_gpu<reading> in,
                                               gpu::ring_to_cpu<reading> out, word* wrong) {
    gpu::consumer<reading> from(in);
    gpu::producer<reading> to(out);
    reading value;
    if (from.pop(value, patience) != status::ok || !is_whole(value) ||
        to.push(reading_of(value.words[0] + 1), patience) != status::ok)
        gpu::add(wrong, 1);
}

// Pushes a message, begins a second one, and fails: as a kernel that is killed in between.
extern "C" BARMAP_KERNEL void barmap_test_killed(gpu::ring_to_cpu<reading> out) {
    gpu::producer<reading> to(out);
    to.push(reading_of(1), patience);
    reading const second = reading_of(2);
    using slot = gpu::slot_to_cpu<reading>;
    word* const next = out.slots + slot::words;
    for (unsigned i = 0; i < slot::words / 2; ++i) // the last word commits
        gpu::store_relaxed(next + i, second.words[i]);
    gpu::fence_system();
    trap();
}

// Records whose values follow from the block and their number in it.
extern "C" BARMAP_KERNEL void barmap_test_log(gpu::log_ring to, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
        gpu::log(to, i, block(), block() ^ i * 3, ~i);
}

// Each block logs, and then waits for the counter, for which nothing else on the GPU can stop it.
extern "C" BARMAP_KERNEL void barmap_test_log_and_hang(gpu::log_ring to,
                                                       gpu::counter_to_gpu until) {
    gpu::log(to, 0, block(), block(), ~0u);
    while (gpu::value_of(until) == 0) {
    }
}

// Logs and fails at once.
extern "C" BARMAP_KERNEL void barmap_test_log_and_fail(gpu::log_ring to) {
    for (unsigned i = 0; i < 100; ++i)
        gpu::log(to, i, block(), block() ^ i * 3, ~i);
    trap();
}
