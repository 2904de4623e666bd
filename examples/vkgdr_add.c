/* SPDX-License-Identifier: MIT */
/* Adds two arrays on the GPU. The CPU writes them to GPU memory, and reads the sum there, through
 * plain pointers: nothing is copied. */
#include "add_on_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <vkgdr.h>

enum { count = 100000 };
static size_t const bytes = count * sizeof(float);

static int failed(char const* what) {
    char* const why = vkgdr_last_error();
    fprintf(stderr, "%s: %s\n", what, why ? why : "failed");
    free(why);
    return 1;
}

int main(void) {
    add_on_gpu add;
    if (add_on_gpu_start(&add) != 0)
        return 1;
    vkgdr_t const gpu = vkgdr_open(0, VKGDR_OPEN_CURRENT_CONTEXT_BIT);
    if (!gpu)
        return failed("vkgdr_open");
    vkgdr_memory_t const a = vkgdr_memory_alloc(gpu, bytes, 0);
    vkgdr_memory_t const b = vkgdr_memory_alloc(gpu, bytes, 0);
    vkgdr_memory_t const sum = vkgdr_memory_alloc(gpu, bytes, 0);
    if (!a || !b || !sum)
        return failed("vkgdr_memory_alloc");

    float* const cpu_a = vkgdr_memory_get_host_ptr(a);
    float* const cpu_b = vkgdr_memory_get_host_ptr(b);
    float const* const cpu_sum = vkgdr_memory_get_host_ptr(sum);
    for (int i = 0; i < count; ++i) {
        cpu_a[i] = (float)(7 * i);
        cpu_b[i] = (float)(-3 * i);
    }
    vkgdr_memory_flush(a, 0, bytes);
    vkgdr_memory_flush(b, 0, bytes);
    if (add_on_gpu_run(&add, vkgdr_memory_get_device_ptr(a), vkgdr_memory_get_device_ptr(b),
                       vkgdr_memory_get_device_ptr(sum), count) != 0)
        return 1;
    vkgdr_memory_invalidate(sum, 0, bytes);

    int wrong = 0;
    for (int i = 0; i < count; ++i)
        wrong += cpu_sum[i] != (float)(4 * i);
    printf("added %d numbers on the GPU, %d of them wrong; the last sum is %g\n", count, wrong,
           cpu_sum[count - 1]);
    vkgdr_memory_free(a);
    vkgdr_memory_free(b);
    vkgdr_memory_free(sum);
    vkgdr_close(gpu);
    return wrong == 0 ? 0 : 1;
}
