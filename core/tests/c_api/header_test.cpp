// SPDX-License-Identifier: MIT
// The C headers are C++11, too, twice and beside nothing else; and their functions are C's.
#include <barmap/batch_queue.h>
#include <barmap/checkpoint.h>
#include <barmap/counter.h>
#include <barmap/host_buffer.h>
#include <barmap/kernel_queue.h>
#include <barmap/list.h>
#include <barmap/log.h>
#include <barmap/mapping.h>
#include <barmap/report.h>
#include <barmap/ring.h>
#include <barmap/step_tensors.h>

#include <barmap/barmap.h>

int main() {
    barmap_device* device = nullptr;
    barmap_pin_options how = barmap_pin_options();
    how.size = sizeof how;
    int (*const open)(int, barmap_device**) = barmap_device_create;
    int (*const prepare)(uint64_t) = barmap_checkpoint_prepare;
    if (prepare(0) != BARMAP_OK || barmap_checkpoint_restore() != BARMAP_OK)
        return 1;
    barmap_log* log = nullptr;
    int (*const open_log)(int, barmap_log**) = barmap_log_open_shared;
    if (open_log(-1, &log) != BARMAP_ERROR_INVALID_ARGUMENT)
        return 1;
    barmap_counter_to_cpu* counter = nullptr;
    int (*const make)(barmap_arena*, uint64_t, barmap_counter_to_cpu_handle*, barmap_counter_to_cpu**) =
        barmap_counter_to_cpu_create;
    if (make(nullptr, 0, nullptr, &counter) != BARMAP_ERROR_INVALID_ARGUMENT)
        return 1;
    barmap_list* routines = nullptr;
    int (*const list)(barmap_list**) = barmap_list_copy_routines;
    if (list(&routines) != BARMAP_OK || barmap_list_count(routines) == 0)
        return 1;
    barmap_list_destroy(routines);
    barmap_step_inputs* inputs = nullptr;
    if (barmap_step_inputs_create(nullptr, nullptr, 0, 1, &inputs) != BARMAP_ERROR_INVALID_ARGUMENT)
        return 1;
    return open(-1, &device) == BARMAP_ERROR_NO_DEVICE && barmap_device_count() > 0 ? 0 : 1;
}
