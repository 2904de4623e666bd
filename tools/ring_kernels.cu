// SPDX-License-Identifier: MIT
// The kernels of `barmap ring`, as scripts/ptx compiles them. No CUDA toolkit is needed.
// BARMAP_KERNEL is what its headers would call __global__.
#include "ring_kernels.cuh"

namespace {

using namespace barmap::tool;
namespace rings = barmap::gpu;

__device__ unsigned lane() {
    return __nvvm_read_ptx_sreg_tid_x() & 31;
}
__device__ unsigned index_of_thread() {
    return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +
           __nvvm_read_ptx_sreg_tid_x();
}

} // namespace

// Handles and the task by value. Names say how large a slot is, which holds a message of `bytes`.
#define BARMAP_SINKS(slot, bytes)                                                                  \
    extern "C" BARMAP_KERNEL void barmap_ring_sink_thread_##slot(                                  \
        rings::ring_to_gpu<sealed_message<bytes>> ring, ring_task task, ring_findings* findings) { \
        sink_of_thread<bytes>(ring, task, findings, give_up());                                    \
    }                                                                                              \
    extern "C" BARMAP_KERNEL void barmap_ring_sink_warp_##slot(                                    \
        rings::ring_to_gpu<sealed_message<bytes>> ring, ring_task task, ring_findings* findings) { \
        sink_of_warp<bytes>(ring, task, findings, lane(), give_up());                              \
    }
BARMAP_SINKS(64, 56)
BARMAP_SINKS(128, 112)
BARMAP_SINKS(256, 224)

#define BARMAP_SOURCES(slot, bytes)                                                                \
    extern "C" BARMAP_KERNEL void barmap_ring_source_thread_##slot(                                \
        rings::ring_to_cpu<sealed_message<bytes>> ring, ring_task task, ring_findings* findings) { \
        source_of_thread<bytes>(ring, task, findings, give_up());                                  \
    }                                                                                              \
    extern "C" BARMAP_KERNEL void barmap_ring_source_warp_##slot(                                  \
        rings::ring_to_cpu<sealed_message<bytes>> ring, ring_task task, ring_findings* findings) { \
        source_of_warp<bytes>(ring, task, findings, lane(), 32, give_up());                        \
    }                                                                                              \
    extern "C" BARMAP_KERNEL void barmap_ring_source_many_##slot(                                  \
        rings::ring_to_cpu<sealed_message<bytes>> ring, ring_task task, ring_findings* findings,   \
        unsigned threads) {                                                                        \
        source_of_many<bytes>(ring, task, findings, index_of_thread(), threads, give_up());        \
    }
BARMAP_SOURCES(16, 8)
BARMAP_SOURCES(64, 56)
BARMAP_SOURCES(128, 120)

extern "C" BARMAP_KERNEL void barmap_ring_echo(rings::ring_to_gpu<sealed_message<56>> in,
                                               rings::ring_to_cpu<sealed_message<8>> out,
                                               ring_task task, ring_findings* findings) {
    echo(in, out, task, findings, give_up());
}
