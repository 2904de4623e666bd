// SPDX-License-Identifier: MIT
// The GPU's side of counters, which a CPU thread runs in the place of a kernel.
#include <barmap/gpu/counter.cuh>

namespace gpu = barmap::gpu;

namespace {

gpu::word* at(unsigned long long address) {
    return reinterpret_cast<gpu::word*>(address);
}

} // namespace

extern "C" {

int counter_wait(unsigned long long const* of, unsigned long long at_least) {
    return static_cast<int>(gpu::wait_for(gpu::counter_to_gpu{at(of[0])}, at_least));
}

void counter_advance(unsigned long long const* of, unsigned long long to) {
    gpu::advance(gpu::counter_to_cpu{at(of[0]), at(of[1]), of[2]}, to);
}

int counter_arrive(unsigned long long const* of, unsigned long long expected) {
    return gpu::arrive(gpu::counter_to_cpu{at(of[0]), at(of[1]), of[2]}, expected);
}
}
