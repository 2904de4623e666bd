// SPDX-License-Identifier: MIT
// The kernels of `barmap ring`, as packaging/make_ptx.cmake compiles them. Each kernel is described by the function in
// ring_kernels.cuh that it is named for. Parameters are the handles of the rings, a ring_task, and
// where the ring_findings go; of those for many threads also how many these are.
#include "ring_kernels.cuh"

namespace {

using namespace barmap::tool;
namespace rings = barmap::gpu;

__device__ unsigned index_in_block() {
    unsigned index;
    asm("mov.u32 %0, %%tid.x;" : "=r"(index));
    return index;
}
__device__ unsigned lane() {
    return index_in_block() & 31;
}
__device__ unsigned index_of_thread() {
    unsigned block, threads;
    asm("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    asm("mov.u32 %0, %%ntid.x;" : "=r"(threads));
    return block * threads + index_in_block();
}

/// Nanoseconds, by steps of up to a microsecond, and cycles.
struct gpu_clock {
    __device__ rings::word nanoseconds() const {
        rings::word now;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) : : "memory");
        return now;
    }
    __device__ rings::word ticks() const {
        rings::word now;
        asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) : : "memory");
        return now;
    }
};

} // namespace

// Handles and the task by value. Names say how many bytes a message has.
#define BARMAP_SINKS(bytes)                                                                        \
    extern "C" BARMAP_KERNEL void barmap_ring_sink_thread_##bytes(                                 \
        rings::ring_to_gpu<sealed_message<bytes>> ring, ring_task task, ring_findings* findings) { \
        sink_of_thread<bytes>(ring, task, findings, give_up());                                    \
    }                                                                                              \
    extern "C" BARMAP_KERNEL void barmap_ring_sink_warp_##bytes(                                   \
        rings::ring_to_gpu<sealed_message<bytes>> ring, ring_task task, ring_findings* findings) { \
        sink_of_warp<bytes>(ring, task, findings, lane(), give_up());                              \
    }
BARMAP_SINKS(32)
BARMAP_SINKS(56)
BARMAP_SINKS(112)
BARMAP_SINKS(224)

#define BARMAP_SOURCES(bytes)                                                                      \
    extern "C" BARMAP_KERNEL void barmap_ring_source_thread_##bytes(                               \
        rings::ring_to_cpu<sealed_message<bytes>> ring, ring_task task, ring_findings* findings) { \
        source_of_thread<bytes>(ring, task, findings, give_up());                                  \
    }                                                                                              \
    extern "C" BARMAP_KERNEL void barmap_ring_source_warp_##bytes(                                 \
        rings::ring_to_cpu<sealed_message<bytes>> ring, ring_task task, ring_findings* findings) { \
        source_of_warp<bytes>(ring, task, findings, lane(), 32, give_up());                        \
    }                                                                                              \
    extern "C" BARMAP_KERNEL void barmap_ring_source_many_##bytes(                                 \
        rings::ring_to_cpu<sealed_message<bytes>> ring, ring_task task, ring_findings* findings,   \
        unsigned threads) {                                                                        \
        source_of_many<bytes>(ring, task, findings, index_of_thread(), threads, give_up());        \
    }
BARMAP_SOURCES(8)
BARMAP_SOURCES(56)
BARMAP_SOURCES(120)

#define BARMAP_ECHO(bytes)                                                                         \
    extern "C" BARMAP_KERNEL void barmap_ring_echo_##bytes(                                        \
        rings::ring_to_gpu<sealed_message<bytes>> in, rings::ring_to_cpu<sealed_message<8>> out,   \
        ring_task task, ring_findings* findings) {                                                 \
        echo<bytes>(in, out, task, findings, give_up());                                           \
    }
BARMAP_ECHO(32)
BARMAP_ECHO(56)

extern "C" BARMAP_KERNEL void barmap_ring_echo_bare(rings::ring_to_gpu<sealed_message<32>> in,
                                                    rings::ring_to_cpu<sealed_message<8>> out,
                                                    ring_task task, ring_findings* findings) {
    echo_bare(in, out, task, findings, give_up());
}

#define BARMAP_CALLERS(request, reply)                                                             \
    extern "C" BARMAP_KERNEL void barmap_ring_call_##request##_##reply(                            \
        rings::rpc_to_cpu<sealed_message<request>, sealed_message<reply>> cpu, ring_task task,     \
        ring_findings* findings, unsigned threads, rings::word* times) {                           \
        call_cpu<request, reply>(cpu, task, findings, index_of_thread(), threads, times,           \
                                 gpu_clock());                                                     \
    }
BARMAP_CALLERS(8, 8)
BARMAP_CALLERS(8, 32)
BARMAP_CALLERS(56, 56)
