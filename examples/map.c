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
    if (barmap_open(0, &gpu) || barmap_allocate(gpu, bytes, &pin) || barmap_map(pin, &map)) {
        fprintf(stderr, "%s\n", barmap_error_message());
        barmap_unpin(pin);
        barmap_close(gpu);
        return 1;
    }
    printf("%s: %zu bytes at GPU address %#llx, mapped at %p by %s\n", barmap_device_name(gpu),
           barmap_size(map), (unsigned long long)barmap_gpu_address(pin), barmap_data(map),
           barmap_backend_name(pin));

    // A message, and then the word that tells a kernel of it: in this order for the GPU as well.
    char const message[] = "written by plain stores";
    barmap_write(map, 0, message, sizeof message);
    barmap_post64(map, doorbell, 1);
    barmap_flush_stores();

    char answer[sizeof message];
    barmap_read(map, answer, 0, sizeof answer);
    int const same = memcmp(answer, message, sizeof message) == 0;
    printf("read back: %s\n", answer);

    // In any order: the mapping keeps what it needs.
    barmap_close(gpu);
    barmap_unpin(pin);
    barmap_unmap(map);
    return same ? 0 : 1;
}
