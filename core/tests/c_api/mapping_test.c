// SPDX-License-Identifier: MIT
// Mappings through the C interface, on a simulated GPU: kinds of caching, copy routines, engines, windows, and
// the copies by a window.
#include <barmap/list.h>

#include "check.h"

#include <stdlib.h>

enum { size = 1 << 20 };
static int const invalid = BARMAP_ERROR_INVALID_ARGUMENT;

static barmap_device* gpu;
static barmap_pin* memory;

static barmap_mapping* new_mapping(void) {
    barmap_mapping* map = NULL;
    if (barmap_mapping_create(memory, &map) != BARMAP_OK) {
        fprintf(stderr, "%s\n", barmap_error_message());
        exit(1);
    }
    return map;
}

static void a_mapping_is_of_the_kind_that_is_asked_for(void) {
    barmap_mapping* map = NULL;
    CHECK(barmap_mapping_create_as(memory, BARMAP_CACHED, &map) == BARMAP_OK);
    CHECK(barmap_mapping_kind(map) == BARMAP_CACHED && barmap_mapping_size(map) == size);
    CHECK(strcmp(barmap_mapping_backend(map), barmap_pin_backend(memory)) == 0);
    barmap_mapping_destroy(map);
    // The memory of a simulated GPU is the CPU's.
    REFUSED(BARMAP_ERROR_UNSUPPORTED_OPERATION, "", map, barmap_mapping_create_as(memory, BARMAP_UNCACHED, &map));
    static int const wrong[] = {-1, 3, 1 << 30};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        REFUSED(invalid, "give a value of enum barmap_cache_kind", map,
                barmap_mapping_create_as(memory, wrong[i], &map));
    REFUSED(invalid, "pin some memory first", map, barmap_mapping_create_as(NULL, BARMAP_CACHED, &map));
    REFUSED_WITHOUT_OUTPUT("pass a pointer", barmap_mapping_create_as(memory, BARMAP_CACHED, NULL));
}

static void engines_take_large_copies_alone(void) {
    barmap_mapping* const map = new_mapping();
    CHECK(barmap_mapping_engines_from(map, BARMAP_TO_GPU) == 32 << 10);
    CHECK(barmap_mapping_engines_from(map, BARMAP_TO_CPU) == 1 << 10);
    barmap_mapping_destroy(map);
}

// The routines of this build that this CPU has, and one that it lacks, if there is one.
static void each_routine_may_be_used(void) {
    barmap_list* list = NULL;
    static unsigned char written[5000], back[sizeof written];
    barmap_mapping* const map = new_mapping();
    CHECK(strlen(barmap_mapping_routine(map, BARMAP_TO_GPU, 4096)) > 0);
    CHECK(strlen(barmap_mapping_routine(map, BARMAP_TO_CPU, 4096)) > 0);
    CHECK(barmap_list_copy_routines(&list) == BARMAP_OK);
    for (size_t i = 0; i < barmap_list_count(list); ++i) {
        barmap_copy_routine_row const* const row = barmap_list_row(list, i);
        barmap_window by = {NULL, 0, NULL};
        if (!row->supported) {
            REFUSED_COPY(BARMAP_ERROR_UNSUPPORTED_OPERATION, row->name, barmap_mapping_use_routine(map, row->name));
            REFUSED_COPY(BARMAP_ERROR_UNSUPPORTED_OPERATION, row->name,
                         barmap_mapping_window_by(map, row->name, &by));
            continue;
        }
        CHECK(barmap_mapping_use_routine(map, row->name) == BARMAP_OK);
        for (int direction = BARMAP_TO_GPU; direction <= BARMAP_TO_CPU; ++direction)
            for (size_t bytes = 16; bytes <= size; bytes *= 16)
                CHECK(strcmp(barmap_mapping_routine(map, direction, bytes), row->name) == 0);
        memset(written, (int)(i + 1), sizeof written);
        barmap_mapping_write(map, 33, written, sizeof written);
        barmap_mapping_read(map, back, 33, sizeof back);
        CHECK(memcmp(back, written, sizeof back) == 0);

        CHECK(barmap_mapping_window_by(map, row->name, &by) == BARMAP_OK);
        CHECK(by.data == barmap_mapping_data(map) && by.size == size && by.plan != NULL);
        memset(written, (int)(i + 101), sizeof written);
        CHECK(barmap_copy_write((char*)by.data + 7, written, sizeof written, by.plan) == 0);
        CHECK(barmap_copy_read(back, (char*)by.data + 7, sizeof back, by.plan) == 0);
        CHECK(memcmp(back, written, sizeof back) == 0);
    }
    barmap_list_destroy(list);
    barmap_mapping_destroy(map);
}

static void a_part_lies_inside(void) {
    barmap_mapping* const map = new_mapping();
    size_t const size = barmap_mapping_size(map);
    barmap_window all, part = {map, 1, map};
    barmap_mapping_window(map, &all);
    CHECK(barmap_mapping_part(map, 16, size - 16, &part) == BARMAP_OK);
    CHECK(part.data == (char*)all.data + 16 && part.size == size - 16 && part.plan == all.plan);
    CHECK(barmap_mapping_part(map, size, 0, NULL) == BARMAP_OK);
    CHECK(barmap_mapping_part(map, 16, size - 15, &part) == BARMAP_ERROR_OUT_OF_RANGE);
    CHECK(part.data == NULL && part.size == 0 && part.plan == NULL);
    CHECK(barmap_mapping_part(map, SIZE_MAX, 2, NULL) == BARMAP_ERROR_OUT_OF_RANGE);
    CHECK(strstr(barmap_error_message(), "stay inside the mapping") != NULL);
    CHECK(barmap_mapping_part(NULL, 0, 0, &part) == BARMAP_OK && part.data == NULL);
    CHECK(barmap_mapping_part(NULL, 0, 1, &part) == BARMAP_ERROR_OUT_OF_RANGE);
    barmap_mapping_destroy(map);
}

static void no_other_routine_may_be_used(void) {
    barmap_mapping* const map = new_mapping();
    barmap_window window = {map, 1, map};
    REFUSED_WITHOUT_OUTPUT("nonsense", barmap_mapping_use_routine(map, "nonsense"));
    REFUSED_WITHOUT_OUTPUT("nonsense", barmap_mapping_window_by(map, "nonsense", &window));
    CHECK(window.data == NULL && window.size == 0 && window.plan == NULL);
    REFUSED_WITHOUT_OUTPUT("name one, not NULL", barmap_mapping_use_routine(map, NULL));
    REFUSED_WITHOUT_OUTPUT("name one, not NULL", barmap_mapping_window_by(map, NULL, &window));
    char const* const name = barmap_mapping_routine(map, BARMAP_TO_GPU, 4096);
    window.size = 1;
    CHECK(barmap_mapping_use_routine(NULL, name) == BARMAP_OK); // only the name is checked
    CHECK(barmap_mapping_window_by(NULL, name, &window) == BARMAP_OK && window.size == 0);
    REFUSED_WITHOUT_OUTPUT("nonsense", barmap_mapping_use_routine(NULL, "nonsense"));
    REFUSED_WITHOUT_OUTPUT("nonsense", barmap_mapping_window_by(NULL, "nonsense", &window));
    REFUSED_WITHOUT_OUTPUT("pass a pointer for the window", barmap_mapping_window_by(map, name, NULL));
    barmap_mapping_destroy(map);
}

static void each_engine_may_be_used(void) {
    static unsigned char written[300000], back[sizeof written];
    barmap_mapping* const map = new_mapping();
    static char const* const names[] = {"driver", "mapping", "auto"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        CHECK(barmap_mapping_use_engine(map, names[i]) == BARMAP_OK);
        static size_t const sizes[] = {1, 4096, sizeof written};
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
            memset(written, (int)(10 * i + k + 1), sizes[k]);
            CHECK(barmap_mapping_copy_to_gpu(map, 5, written, sizes[k]) == BARMAP_OK);
            CHECK(barmap_mapping_copy_to_cpu(map, back, 5, sizes[k]) == BARMAP_OK);
            CHECK(memcmp(back, written, sizes[k]) == 0);
        }
    }
    CHECK(barmap_mapping_engines_from(map, BARMAP_TO_GPU) == 32 << 10); // again
    REFUSED_WITHOUT_OUTPUT("\"mapping\" or \"auto\"", barmap_mapping_use_engine(map, "nonsense"));
    REFUSED_WITHOUT_OUTPUT("not NULL", barmap_mapping_use_engine(map, NULL));
    REFUSED_WITHOUT_OUTPUT("map some memory first", barmap_mapping_use_engine(NULL, "driver"));
    barmap_mapping_destroy(map);
}

static void a_window_is_the_whole_mapping(void) {
    barmap_mapping* const map = new_mapping();
    unsigned char* const at = barmap_mapping_data(map);
    barmap_window all = {NULL, 0, NULL};
    barmap_mapping_window(map, &all);
    CHECK(all.data == at && all.size == size && all.plan != NULL);
    barmap_plan_head const* const head = all.plan;
    CHECK(head->direct_words <= 1 && head->direct_lines <= 1);

    static unsigned char written[10000], back[sizeof written];
    for (size_t i = 0; i < sizeof written; ++i)
        written[i] = (unsigned char)(i * 31 + i / 256 + 1);
    CHECK(barmap_copy_write(at + 4097, written, sizeof written, all.plan) == 0);
    CHECK(memcmp(at + 4097, written, sizeof written) == 0);
    CHECK(barmap_copy_read(back, at + 4097, sizeof back, all.plan) == 0);
    CHECK(memcmp(back, written, sizeof back) == 0);
    CHECK(barmap_copy_write(at, written, 0, all.plan) == 0 && barmap_copy_read(back, at, 0, all.plan) == 0);

    at[99] = at[1100] = 0xee;
    CHECK(barmap_copy_fill(at + 100, 0x5a, 1000, all.plan) == 0);
    CHECK(at[99] == 0xee && at[1100] == 0xee);
    for (size_t i = 100; i < 1100; ++i)
        CHECK(at[i] == 0x5a);
    CHECK(barmap_copy_fill(at + 100, 0, 0, all.plan) == 0 && at[100] == 0x5a);
    barmap_mapping_destroy(map);
}

static void posts_by_a_window(void) {
    barmap_mapping* const map = new_mapping();
    unsigned char* const at = barmap_mapping_data(map);
    static unsigned char line[65];
    barmap_window all = {NULL, 0, NULL};
    barmap_mapping_window(map, &all);
    memset(at, 0, 4096);
    uint64_t const word = 0x1112131415161718u;
    for (unsigned bytes = 1; bytes <= 8; bytes *= 2)
        CHECK(barmap_copy_post_word(at + 64 * bytes, word, bytes, all.plan) == 0);
    for (size_t i = 0; i < sizeof line; ++i)
        line[i] = (unsigned char)(i + 1);
    CHECK(barmap_copy_post_line(at + 1024, line + 1, all.plan) == 0); // of no alignment
    barmap_flush_stores();
    barmap_order_loads();
    for (unsigned bytes = 1; bytes <= 8; bytes *= 2) {
        uint64_t seen = 0;
        memcpy(&seen, at + 64 * bytes, sizeof seen);
        CHECK(seen == (bytes == 8 ? word : word & (((uint64_t)1 << 8 * bytes) - 1)));
    }
    CHECK(memcmp(at + 1024, line + 1, 64) == 0 && at[1023] == 0 && at[1088] == 0);
    barmap_mapping_destroy(map);
}

int main(void) {
    if (barmap_device_create(0, &gpu) || barmap_pin_allocate(gpu, size, NULL, &memory)) {
        fprintf(stderr, "%s\n", barmap_error_message());
        return 1;
    }
    a_mapping_is_of_the_kind_that_is_asked_for();
    engines_take_large_copies_alone();
    each_routine_may_be_used();
    a_part_lies_inside();
    no_other_routine_may_be_used();
    each_engine_may_be_used();
    a_window_is_the_whole_mapping();
    posts_by_a_window();
    barmap_pin_destroy(memory);
    barmap_device_destroy(gpu);
    return failures != 0;
}
