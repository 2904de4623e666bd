// SPDX-License-Identifier: MIT
// The kernel of memory_traffic, as packaging/make_ptx.cmake compiles it.
#include "kernel_block.cuh"

#include <barmap/gpu/kernel_queue.cuh>

using namespace barmap::gpu_test;
namespace gpu = barmap::gpu;
using gpu::word;

// Copies GPU memory again and again, in blocks of 1,024 threads, until the CPU sets the word `stop`
// of host memory, or the time is over. Adds to `passes` how often each block has copied its share.
extern "C" BARMAP_KERNEL __attribute__((launch_bounds(1024))) void
barmap_traffic(word* to, word const* from, word count, unsigned const* stop, word nanoseconds,
               word* passes) {
    constexpr unsigned at_once = 8;
    word const step = word{blocks()} * threads(), begin = gpu::nanoseconds_now();
    word passed = 0;
    // The first thread decides for the block.
    while (all_of_block(thread() != 0 || (gpu::detail::load_acquire_32(stop) == 0 &&
                                          gpu::nanoseconds_now() - begin < nanoseconds))) {
        for (word i = word{block()} * threads() + thread(); i + (at_once - 1) * step < count;
             i += at_once * step) {
            word some[at_once]; // whose loads overlap
            BARMAP_UNROLL
            for (unsigned j = 0; j < at_once; ++j)
                some[j] = from[i + j * step];
            BARMAP_UNROLL
            for (unsigned j = 0; j < at_once; ++j)
                to[i + j * step] = some[j];
        }
        ++passed;
    }
    if (thread() == 0)
        gpu::add(passes, passed);
}
