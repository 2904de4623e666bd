// SPDX-License-Identifier: MIT
// The GPU's side of logs, which a CPU thread runs in the place of a kernel.
#include <barmap/gpu/log.cuh>

extern "C" void log_record(unsigned long long const* of, unsigned id, unsigned a, unsigned b, unsigned c) {
    auto const at = [](unsigned long long address) {
        return reinterpret_cast<barmap::gpu::word*>(address);
    };
    barmap::gpu::log(barmap::gpu::log_ring{at(of[0]), at(of[1]), of[2], of[3]}, id, a, b, c);
}
