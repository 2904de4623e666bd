// SPDX-License-Identifier: MIT
// Queues for kernels, from C. The simulated GPU has none, which is a refusal with a reason.
#include <barmap/kernel_queue.h>

#include "check.h"

int main(void) {
    barmap_device* gpu = NULL;
    barmap_kernel_queue* queue;
    barmap_kernel_queue_handle handle;
    CHECK(barmap_device_create(0, &gpu) == BARMAP_OK);
    REFUSED(BARMAP_ERROR_BACKEND_ABSENT, "simulated GPU", queue,
            barmap_kernel_queue_create(gpu, NULL, &queue));
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "create a device first", queue,
            barmap_kernel_queue_create(NULL, NULL, &queue));
    REFUSED_WITHOUT_OUTPUT("NULL", barmap_kernel_queue_create(gpu, NULL, NULL));
    barmap_kernel_queue_options how = {.size = sizeof how, .flags = 4};
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "a flag that this version does not know", queue,
            barmap_kernel_queue_create(gpu, &how, &queue));
    how.flags = BARMAP_KERNEL_QUEUE_SHARED | BARMAP_KERNEL_QUEUE_OR_RUNG_BY_CPU;
    REFUSED(BARMAP_ERROR_BACKEND_ABSENT, "simulated GPU", queue,
            barmap_kernel_queue_create(gpu, &how, &queue));
    how.size = 0;
    REFUSED(BARMAP_ERROR_INVALID_ARGUMENT, "sizeof(barmap_kernel_queue_options)", queue,
            barmap_kernel_queue_create(gpu, &how, &queue));
    int is = 0;
    REFUSED_WITHOUT_OUTPUT("create a queue", barmap_kernel_queue_is_rung_by_cpu(NULL, &is));
    REFUSED_WITHOUT_OUTPUT("not NULL", barmap_kernel_queue_is_rung_by_cpu(NULL, NULL));
    REFUSED_WITHOUT_OUTPUT("create a queue", barmap_kernel_queue_get(NULL, &handle));
    REFUSED_WITHOUT_OUTPUT("create a queue", barmap_kernel_queue_get_for_thread(NULL, &handle));
    REFUSED_WITHOUT_OUTPUT("not NULL", barmap_kernel_queue_get(NULL, NULL));
    REFUSED_WITHOUT_OUTPUT("create a queue", barmap_kernel_queue_enqueue(NULL, 8, 8, 1, 1, NULL));
    REFUSED_WITHOUT_OUTPUT("create a queue", barmap_kernel_queue_check(NULL));
    REFUSED_WITHOUT_OUTPUT("create a queue", barmap_kernel_queue_restart(NULL));
    barmap_kernel_queue_destroy(NULL);
    barmap_device_destroy(gpu);
    return failures != 0;
}
