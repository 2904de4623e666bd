// SPDX-License-Identifier: MIT
// Makes GPU memory, maps it, and moves bytes both ways, in C.
//
//     cc -std=c11 map.c $(pkg-config --cflags --libs barmap) -o map
//
// Runs without a GPU as well: BARMAP_SIM=1 ./map
#include <barmap/barmap.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    enum { bytes = 1 << 20, doorbell = 4096 };
    barmap_device* gpu = NULL;
    barmap_pin* pin = NULL;
    barmap_mapping* map = NULL;
    if (barmap_device_create(0, &gpu) || barmap_pin_allocate(gpu, bytes, NULL, &pin) || barmap_mapping_create(pin, &map)) {
        fprintf(stderr, "%s\n", barmap_error_message());
        barmap_pin_destroy(pin);
        barmap_device_destroy(gpu);
        return 1;
    }
    printf("%s: %zu bytes at GPU address %#llx, mapped at %p by %s\n", barmap_device_name(gpu),
           barmap_mapping_size(map), (unsigned long long)barmap_pin_gpu_address(pin), barmap_mapping_data(map),
           barmap_pin_backend(pin));

    // A message, and then the word that tells a kernel of it: in this order for the GPU as well.
    char const message[] = "written by plain stores";
    barmap_mapping_write(map, 0, message, sizeof message);
    barmap_mapping_post64(map, doorbell, 1);
    barmap_flush_stores();

    char answer[sizeof message];
    barmap_mapping_read(map, answer, 0, sizeof answer);
    int const same = memcmp(answer, message, sizeof message) == 0;
    printf("read back: %s\n", answer);

    // In any order: the mapping keeps what it needs.
    barmap_device_destroy(gpu);
    barmap_pin_destroy(pin);
    barmap_mapping_destroy(map);
    return same ? 0 : 1;
}
