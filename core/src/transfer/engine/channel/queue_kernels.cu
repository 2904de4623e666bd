// SPDX-License-Identifier: MIT
// The kernel of barmap_kernel_queue_enqueue(), as packaging/make_ptx.cmake compiles it.
#include <barmap/gpu/list_in_memory.cuh>

extern "C" BARMAP_KERNEL void barmap_queue_submit(barmap::gpu::kernel_queue_task task) {
    (void)barmap::gpu::submit_and_wait(task);
}
