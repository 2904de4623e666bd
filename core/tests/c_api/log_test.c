// SPDX-License-Identifier: MIT
// Logs through the C interface, on a simulated GPU: what readers see, and each refusal with its sentence.
// A log is opened for reading; records are written by hand to what its descriptor maps.
#include <barmap/log.h>

#include "check.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { slots = 8 };
static int const invalid = BARMAP_ERROR_INVALID_ARGUMENT;

static barmap_device* gpu;

/// Writes the record of this number, as a kernel would, into the file of a log.
static void write_record(int descriptor, uint64_t number, uint32_t id) {
    char* const file = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    CHECK(file != MAP_FAILED);
    uint64_t const round = (number / slots + 1) << 32;
    uint64_t const words[4] = {1000 + number, round | id, (uint64_t)2 << 32 | 1, round | 3};
    memcpy(file + 64 + number % slots * 32, words, sizeof words);
    munmap(file, 4096);
}

static void records_are_read_and_the_lost_are_counted(void) {
    barmap_log *log = NULL, *other = NULL;
    barmap_log_handle handle = {0, 0, 0, 0};
    CHECK(barmap_log_create(gpu, slots, &handle, &log) == BARMAP_OK);
    if (!log)
        return;
    CHECK(handle.records && handle.next && handle.mask == slots - 1 && handle.shift == 3);
    int descriptor = -1;
    CHECK(barmap_log_share(log, &descriptor) == BARMAP_OK && descriptor >= 0);
    barmap_log_record records[slots + 1];
    CHECK(barmap_log_read(log, records, slots + 1) == 0);
    CHECK(barmap_log_wait(log, 0) == 0);
    for (uint32_t i = 0; i < 3; ++i)
        write_record(descriptor, i, 70 + i);
    CHECK(barmap_log_wait(log, 0) == 1);
    CHECK(barmap_log_read(log, records, 2) == 2);
    CHECK(barmap_log_read(log, records, slots + 1) == 1);
    CHECK(records[0].id == 72 && records[0].number == 2 && records[0].time == 1002);
    CHECK(records[0].a == 1 && records[0].b == 2 && records[0].c == 3);
    CHECK(records[1].id == 71);
    CHECK(barmap_log_lost(log) == 0);
    for (uint32_t i = 3; i < 13; ++i)
        write_record(descriptor, i, 70 + i);
    CHECK(barmap_log_open_shared(descriptor, &other) == BARMAP_OK);
    CHECK(barmap_log_read(log, records, slots + 1) == slots);
    CHECK(barmap_log_lost(log) == 2);
    barmap_log_destroy(log);
    close(descriptor);
    CHECK(barmap_log_read(other, records, slots + 1) == slots); // it outlives the owner
    CHECK(records[0].number == 5 && records[7].id == 82);
    CHECK(barmap_log_lost(other) == 5);
    barmap_log_destroy(other);
    CHECK(barmap_log_create(gpu, slots, NULL, &log) == BARMAP_OK);
    barmap_log_destroy(log);
    barmap_log_destroy(NULL);
}

static void what_cannot_be_is_refused(void) {
    barmap_log* log;
    barmap_log_handle handle = {1, 2, 3, 4};
    REFUSED(invalid, "power of two", log, barmap_log_create(gpu, 12, &handle, &log));
    CHECK(handle.records == 1 && handle.shift == 4);
    REFUSED(invalid, "open a device first", log, barmap_log_create(NULL, slots, NULL, &log));
    REFUSED_WITHOUT_OUTPUT("not NULL", barmap_log_create(gpu, slots, NULL, NULL));
    REFUSED_WITHOUT_OUTPUT("not NULL", barmap_log_create(gpu, slots, &handle, NULL));
    CHECK(handle.records == 1 && handle.shift == 4);
    REFUSED(invalid, "share() of a log", log, barmap_log_open_shared(-1, &log));
    REFUSED_WITHOUT_OUTPUT("not NULL", barmap_log_open_shared(0, NULL));
    int descriptor = 7;
    REFUSED_WITHOUT_OUTPUT("create one first", barmap_log_share(NULL, &descriptor));
    CHECK(descriptor == -1);
    CHECK(barmap_log_create(gpu, slots, NULL, &log) == BARMAP_OK);
    REFUSED_WITHOUT_OUTPUT("a pointer for the descriptor", barmap_log_share(log, NULL));
    barmap_log_destroy(log);
}

int main(void) {
    if (barmap_device_create(0, &gpu)) {
        fprintf(stderr, "%s\n", barmap_error_message());
        return 1;
    }
    records_are_read_and_the_lost_are_counted();
    what_cannot_be_is_refused();
    barmap_device_destroy(gpu);
    return failures != 0;
}
