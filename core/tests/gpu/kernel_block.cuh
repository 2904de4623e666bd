// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/gpu/words.cuh>

/// Where a thread of a test's kernel is, and what the threads of its block do together. For .cu
/// files alone.
namespace barmap::gpu_test {

__device__ inline unsigned thread() {
    unsigned number;
    asm("mov.u32 %0, %%tid.x;" : "=r"(number));
    return number;
}
__device__ inline unsigned threads() {
    unsigned count;
    asm("mov.u32 %0, %%ntid.x;" : "=r"(count));
    return count;
}
__device__ inline unsigned block() {
    unsigned number;
    asm("mov.u32 %0, %%ctaid.x;" : "=r"(number));
    return number;
}
__device__ inline unsigned blocks() {
    unsigned count;
    asm("mov.u32 %0, %%nctaid.x;" : "=r"(count));
    return count;
}

/// Whether the value is true for all threads of the block, which meet here: each sees afterwards
/// what the others have stored before.
__device__ inline bool all_of_block(bool value) {
    unsigned result;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red.and.pred q, 0, p; "
                 "selp.u32 %0, 1, 0, q; }"
                 : "=r"(result)
                 : "r"(static_cast<unsigned>(value))
                 : "memory");
    return result != 0;
}

/// Adds this thread's share to the sum.
__device__ inline void add_if_any(gpu::word* sum, gpu::word number) {
    if (number != 0)
        gpu::add(sum, number);
}

} // namespace barmap::gpu_test
