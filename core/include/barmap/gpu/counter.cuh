// SPDX-License-Identifier: MIT
/// Counters between a CPU and running GPU code: the GPU's side. <barmap/counter.hpp> makes them,
/// and the rules are in share/doc/barmap/rings.md.
///
///     __global__ void step(barmap::gpu::counter_to_gpu inputs, barmap::gpu::counter_to_cpu done,
///                          unsigned long long number) {
///         if (barmap::gpu::wait_for(inputs, number, 1000000000) == barmap::gpu::status::ok)
///             ...
///         barmap::gpu::advance(done, number);
///     }
///
/// The structs are plain and are passed to kernels by value. Compiles as <barmap/gpu/words.cuh>.
#pragma once

#include <barmap/gpu/status.cuh>
#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

/// A 64-bit number that the CPU advances. Any number of threads may poll it.
struct counter_to_gpu {
    word* value; ///< GPU memory
};

/// A 64-bit number that GPU code or a stream advances.
struct counter_to_cpu {
    word* value;   ///< host memory
    word* arrived; ///< GPU memory: number of calls of arrive()
    word first;    ///< initial number
};

/// The number now. Later loads of this thread see what the CPU published before.
BARMAP_DEVICE word value_of(counter_to_gpu const& counter) {
    return load_acquire(counter.value);
}

/// Polls until the number is at least this.
/// @param nanoseconds how long, by a clock that is read after each 64 polls; 0: polls once
/// @return ok, empty (nanoseconds is 0) or timed_out
BARMAP_DEVICE status wait_for(counter_to_gpu const& counter, word at_least, word nanoseconds = 0) {
    for (detail::time_limit limit(nanoseconds);;) {
        if (static_cast<long long>(value_of(counter) - at_least) >= 0)
            return status::ok;
        if (!limit.polls_again() && limit.is_over())
            return limit.without(status::empty);
    }
}

/// Sets the number, which must not decrease, after all that this thread has stored. One GPU thread
/// at a time.
BARMAP_DEVICE void advance(counter_to_cpu const& counter, word to) {
    store_release(counter.value, to);
}

/// Counts one of `expected` arrivals. The last one advances the number by 1, after all that any of
/// the arriving threads has stored before. Each of them arrives once for each advance, for instance
/// thread 0 of each block, after a barrier of the block. No thread may call advance() meanwhile.
/// @return whether this was the last arrival
BARMAP_DEVICE bool arrive(counter_to_cpu const& counter, word expected) {
    word const before = add(counter.arrived, 1);
    if ((before + 1) % expected != 0)
        return false;
    fence_system(); // orders what the others have stored
    store_release(counter.value, counter.first + (before + 1) / expected);
    return true;
}

} // namespace gpu
} // namespace barmap
