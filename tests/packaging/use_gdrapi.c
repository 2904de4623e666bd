// SPDX-License-Identifier: MIT
/// A C program against libgdrapi-dev: pins memory of the driver that the loader finds, and copies.
#include <gdrapi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long device_pointer;

static int failed(char const* what) {
    fprintf(stderr, "use_gdrapi: %s failed\n", what);
    return 1;
}

int main(void) {
    void* const cuda = dlopen("libcuda.so.1", RTLD_NOW);
    if (!cuda)
        return failed("loading libcuda.so.1");
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(cuda, "cuInit");
    int (*retain)(void**, int) = (int (*)(void**, int))dlsym(cuda, "cuDevicePrimaryCtxRetain");
    int (*enter)(void*) = (int (*)(void*))dlsym(cuda, "cuCtxSetCurrent");
    int (*allocate)(device_pointer*, size_t) =
        (int (*)(device_pointer*, size_t))dlsym(cuda, "cuMemAlloc_v2");
    void* context = NULL;
    device_pointer memory = 0;
    if (init(0) || retain(&context, 0) || enter(context) || allocate(&memory, GPU_PAGE_SIZE))
        return failed("the driver");

    gdr_t const gdr = gdr_open();
    gdr_mh_t pin;
    void* map = NULL;
    char text[] = "through the mapping", back[sizeof(text)] = "";
    if (!gdr || gdr_pin_buffer(gdr, memory, GPU_PAGE_SIZE, 0, 0, &pin))
        return failed("gdr_pin_buffer");
    if (gdr_map(gdr, pin, &map, GPU_PAGE_SIZE))
        return failed("gdr_map");
    gdr_copy_to_mapping(pin, map, text, sizeof(text));
    gdr_copy_from_mapping(pin, back, map, sizeof(back));
    if (memcmp(text, back, sizeof(text)) != 0)
        return failed("the copy");
    if (gdr_unmap(gdr, pin, map, GPU_PAGE_SIZE) || gdr_unpin_buffer(gdr, pin) || gdr_close(gdr))
        return failed("giving back");
    printf("libgdrapi-dev: %s\n", back);
    return 0;
}
