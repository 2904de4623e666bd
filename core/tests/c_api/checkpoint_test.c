// SPDX-License-Identifier: MIT
// Checkpoints through the C interface, on a simulated GPU.
#include "check.h"

#include <barmap/checkpoint.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { size = 1 << 20 };
static uint64_t const second = 1000000000;

static barmap_device* gpu;
static barmap_pin* memory;
static barmap_mapping* map;

static void cuda(char const* name) {
    int (*function)(int, void*) = NULL;
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    *(void**)&function = driver ? dlsym(driver, name) : NULL;
    CHECK(function && function(getpid(), NULL) == 0);
}

static void checkpoint_of_cuda(void) {
    cuda("cuCheckpointProcessLock");
    cuda("cuCheckpointProcessCheckpoint");
    cuda("cuCheckpointProcessRestore");
    cuda("cuCheckpointProcessUnlock");
}

static void everything_comes_back(void) {
    unsigned char* const at = barmap_mapping_data(map);
    memset(at, 17, size);
    barmap_flush_stores();
    CHECK(barmap_checkpoint_restore() == BARMAP_OK); // does nothing
    CHECK(barmap_checkpoint_prepare(second) == BARMAP_OK);
    CHECK(barmap_checkpoint_prepare(UINT64_MAX) == BARMAP_OK);
    checkpoint_of_cuda();
    CHECK(barmap_checkpoint_restore() == BARMAP_OK);
    CHECK(barmap_checkpoint_restore() == BARMAP_OK);
    CHECK(barmap_mapping_data(map) == at);
    CHECK(at[0] == 17 && at[size - 1] == 17);
}

static void calls_in_between_are_refused(void) {
    char const sentence[] = "prepared for a checkpoint";
    barmap_device* other = NULL;
    barmap_pin* pin = NULL;
    barmap_mapping* mapping = NULL;
    barmap_batch_queue* queue = NULL;
    static char host[size];
    CHECK(barmap_checkpoint_prepare(second) == BARMAP_OK);
    REFUSED(BARMAP_ERROR_CHECKPOINTED, sentence, other, barmap_device_create(0, &other));
    REFUSED(BARMAP_ERROR_CHECKPOINTED, sentence, pin, barmap_pin_allocate(gpu, 8, NULL, &pin));
    REFUSED(BARMAP_ERROR_CHECKPOINTED, sentence, mapping, barmap_mapping_create(memory, &mapping));
    REFUSED(BARMAP_ERROR_CHECKPOINTED, sentence, queue, barmap_batch_queue_create(gpu, &queue));
    REFUSED_COPY(BARMAP_ERROR_CHECKPOINTED, sentence,
                 barmap_mapping_copy_to_cpu(map, host, 0, size));
    pid_t const child = fork();
    if (child == 0)
        _exit(barmap_checkpoint_restore() == BARMAP_ERROR_FORKED_CHILD ? 0 : 1);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(barmap_checkpoint_restore() == BARMAP_OK);
    CHECK(barmap_mapping_copy_to_cpu(map, host, 0, size) == BARMAP_OK);
}

// A checkpoint releases the engine; only a thread that may wait starts the next one.
static void no_batch_starts_an_engine_that_must_not(void) {
    barmap_batch_queue* queue = NULL;
    uint64_t const at = barmap_pin_gpu_address(memory);
    barmap_copy_piece const piece = {at, at + size / 2, 64};
    barmap_batch_options const how = {.size = sizeof how, .flags = BARMAP_BATCH_STARTED};
    uint64_t ticket = 7;
    int done = 0;
    CHECK(barmap_batch_queue_create(gpu, &queue) == BARMAP_OK);
    CHECK(barmap_batch_queue_submit(queue, &piece, 1, &how, &ticket) == BARMAP_OK && ticket != 0);
    CHECK(barmap_batch_queue_wait(queue, ticket, second, &done) == BARMAP_OK && done == 1);
    CHECK(barmap_checkpoint_prepare(second) == BARMAP_OK);
    CHECK(barmap_batch_queue_open(queue) == BARMAP_ERROR_CHECKPOINTED);
    CHECK(barmap_batch_queue_submit(queue, &piece, 1, &how, &ticket) == BARMAP_ERROR_CHECKPOINTED);
    CHECK(barmap_checkpoint_restore() == BARMAP_OK);
    CHECK(barmap_batch_queue_submit(queue, &piece, 1, &how, &ticket) == BARMAP_ERROR_NOT_STARTED);
    CHECK(ticket == 0 && strstr(barmap_error_message(), "barmap_batch_queue_open()") != NULL);
    CHECK(barmap_batch_queue_open(queue) == BARMAP_OK);
    CHECK(barmap_batch_queue_submit(queue, &piece, 1, &how, &ticket) == BARMAP_OK && ticket != 0);
    barmap_batch_queue_destroy(queue);
}

static void what_cannot_come_back_is_refused(void) {
    int descriptor = -1;
    barmap_pin* shared = NULL;
    CHECK(barmap_pin_share(memory, &descriptor) == BARMAP_OK);
    CHECK(barmap_pin_open_shared(descriptor, &shared) == BARMAP_OK);
    close(descriptor);
    REFUSED_COPY(BARMAP_ERROR_UNSUPPORTED_OPERATION, "opened by a descriptor",
                 barmap_checkpoint_prepare(second));
    CHECK(((unsigned char*)barmap_mapping_data(map))[0] == 17);
    barmap_pin_destroy(shared);
    CHECK(barmap_checkpoint_prepare(second) == BARMAP_OK);
    CHECK(barmap_checkpoint_restore() == BARMAP_OK);
}

int main(void) {
    if (barmap_device_create(0, &gpu) || barmap_pin_allocate(gpu, size, NULL, &memory) ||
        barmap_mapping_create(memory, &map)) {
        fprintf(stderr, "%s\n", barmap_error_message());
        return 1;
    }
    everything_comes_back();
    calls_in_between_are_refused();
    no_batch_starts_an_engine_that_must_not();
    what_cannot_come_back_is_refused();
    CHECK(barmap_checkpoint_prepare(second) == BARMAP_OK);
    barmap_mapping_destroy(map);
    barmap_pin_destroy(memory);
    barmap_device_destroy(gpu);
    CHECK(barmap_checkpoint_restore() == BARMAP_OK);
    return failures != 0;
}
