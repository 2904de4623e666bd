/* SPDX-License-Identifier: MIT */
/*
 * What the consumers that load libgdrapi have in common: its types as they declare them themselves,
 * a table of its functions, of which each fills the part that it looks up, and uses of a mapping.
 */
#ifndef BARMAP_DROPIN_LOADED_LIBRARY_H
#define BARMAP_DROPIN_LOADED_LIBRARY_H

#include "shared/gpu_memory.h"

#include <dlfcn.h>
#include <stddef.h>

#ifndef __GDRAPI_H__
typedef struct gdr* gdr_t;
typedef struct {
    unsigned long h;
} gdr_mh_t;
#endif

/* gdr_info_t of the first generation; the second has a mapping type of 4 bytes behind it. */
struct info_v1 {
    uint64_t va;
    uint64_t mapped_size;
    uint32_t page_size;
    uint64_t tm_cycles;
    uint32_t cycles_per_ms;
    unsigned mapped : 1;
    unsigned wc_mapping : 1;
};
enum { info_v1_size = 40, info_v2_size = 48 };
_Static_assert(sizeof(struct info_v1) == info_v1_size, "as libgdrapi's");

static struct gdr_functions {
    gdr_t (*open)(void);
    int (*close)(gdr_t);
    int (*pin_buffer)(gdr_t, unsigned long, size_t, uint64_t, uint32_t, gdr_mh_t*);
    int (*pin_buffer_v2)(gdr_t, unsigned long, size_t, uint32_t, gdr_mh_t*);
    int (*unpin_buffer)(gdr_t, gdr_mh_t);
    int (*get_info)(gdr_t, gdr_mh_t, void*);
    int (*get_info_v2)(gdr_t, gdr_mh_t, void*);
    int (*map)(gdr_t, gdr_mh_t, void**, size_t);
    int (*unmap)(gdr_t, gdr_mh_t, void*, size_t);
    int (*copy_to_mapping)(gdr_mh_t, void*, void const*, size_t);
    int (*copy_from_mapping)(gdr_mh_t, void*, void const*, size_t);
    void (*runtime_get_version)(int*, int*);
    int (*driver_get_version)(gdr_t, int*, int*);
    int (*get_attribute)(gdr_t, int, int*);
} gdr;

/* Looks up the functions of the list, without "gdr_", with a space between two; what the library
 * lacks stays NULL. Returns how many it lacks. */
static inline int take_functions(void* library, char const* names) {
#define BARMAP_GDR_FUNCTION(name)                                                                  \
    { #name, offsetof(struct gdr_functions, name) }
    static struct {
        char const* name;
        size_t offset;
    } const known[] = {
        BARMAP_GDR_FUNCTION(open),
        BARMAP_GDR_FUNCTION(close),
        BARMAP_GDR_FUNCTION(pin_buffer),
        BARMAP_GDR_FUNCTION(pin_buffer_v2),
        BARMAP_GDR_FUNCTION(unpin_buffer),
        BARMAP_GDR_FUNCTION(get_info),
        BARMAP_GDR_FUNCTION(get_info_v2),
        BARMAP_GDR_FUNCTION(map),
        BARMAP_GDR_FUNCTION(unmap),
        BARMAP_GDR_FUNCTION(copy_to_mapping),
        BARMAP_GDR_FUNCTION(copy_from_mapping),
        BARMAP_GDR_FUNCTION(runtime_get_version),
        BARMAP_GDR_FUNCTION(driver_get_version),
        BARMAP_GDR_FUNCTION(get_attribute),
    };
#undef BARMAP_GDR_FUNCTION
    int missing = 0;
    while (*names) {
        size_t const length = strcspn(names, " ");
        size_t i = 0;
        while (strlen(known[i].name) != length || memcmp(known[i].name, names, length) != 0)
            REQUIRE(++i < sizeof known / sizeof *known);
        char symbol[64];
        snprintf(symbol, sizeof symbol, "gdr_%s", known[i].name);
        void* const found = dlsym(library, symbol);
        memcpy((char*)&gdr + known[i].offset, &found, sizeof found);
        missing += !found;
        names += length + (names[length] == ' ');
    }
    return missing;
}

/* Loads the library and looks up what its consumer cannot do without. */
static inline void* load_library(char const* name, int flags, char const* functions) {
    void* const library = dlopen(name, flags);
    if (!library)
        fail("%s", dlerror());
    if (take_functions(library, functions) != 0)
        fail("%s lacks one of: %s", name, functions);
    return library;
}

/* A program that its consumer would leave without gdrcopy has failed here. */
static inline gdr_t open_session(void) {
    gdr_t const g = gdr.open();
    if (!g)
        fail("gdr_open gave NULL");
    return g;
}

/* Versions as 1000 * major + minor. */
static inline int library_version(void) {
    int major = 0, minor = 0;
    gdr.runtime_get_version(&major, &minor);
    return 1000 * major + minor;
}

static inline int driver_version(gdr_t g) {
    int major = 0, minor = 0;
    REQUIRE_0(gdr.driver_get_version(g, &major, &minor));
    return 1000 * major + minor;
}

/* The info, by either generation of the function, of which `size` is the struct's; what lies behind
 * that struct stays as it is. */
static inline struct info_v1 look_up_info(gdr_t g, gdr_mh_t handle,
                                          int (*get_info)(gdr_t, gdr_mh_t, void*), size_t size) {
    struct {
        struct info_v1 info;
        int mapping_type;
        unsigned char rest[84];
    } place;
    memset(&place, 0xa5, sizeof place);
    REQUIRE_0(get_info(g, handle, &place));
    for (size_t i = size; i < sizeof place; ++i)
        if (((unsigned char*)&place)[i] != 0xa5)
            fail("gdr_get_info wrote to byte %zu of a struct of %zu", i, size);
    REQUIRE(place.info.page_size == GPU_PAGE);
    REQUIRE(place.info.mapped == 1);
    if (size == info_v2_size)
        REQUIRE(place.mapping_type >= 1 && place.mapping_type <= 3);
    return place.info;
}

static inline void unmap_and_unpin(gdr_t g, gdr_mh_t handle, void* va, size_t size) {
    REQUIRE_0(gdr.unmap(g, handle, va, size));
    REQUIRE_0(gdr.unpin_buffer(g, handle));
}

/* Whole copies by the library, in both directions; what the driver holds and sees is the other
 * side. */
static inline void exchange_bytes(struct cuda_driver const* cuda, gdr_mh_t handle, void* cpu,
                                  uint64_t gpu, size_t size, unsigned seed) {
    void* const bytes = some_bytes(size);
    fill_pattern(bytes, size, seed);
    REQUIRE_0(gdr.copy_to_mapping(handle, cpu, bytes, size));
    require_gpu_pattern(cuda, gpu, size, seed, "after gdr_copy_to_mapping");
    upload_pattern(cuda, gpu, size, seed + 1);
    memset(bytes, 0, size);
    REQUIRE_0(gdr.copy_from_mapping(handle, bytes, cpu, size));
    require_pattern(bytes, size, seed + 1, "after gdr_copy_from_mapping");
    free(bytes);
}

/* One word by plain accesses of the CPU: what it stores reaches the GPU, and what the GPU then
 * holds reaches it. */
static inline void exchange_word(struct cuda_driver const* cuda, void* cpu, uint64_t gpu,
                                 uint64_t value) {
    uint64_t volatile* const word = (uint64_t volatile*)cpu;
    *word = value;
    store_fence();
    uint64_t seen = 0;
    require_cuda(cuda->to_host(&seen, gpu, sizeof seen), "cuMemcpyDtoH");
    REQUIRE(seen == value);
    seen = ~value;
    require_cuda(cuda->to_device(gpu, &seen, sizeof seen), "cuMemcpyHtoD");
    require_cuda(cuda->synchronize(), "cuCtxSynchronize");
    load_fence();
    REQUIRE(*word == ~value);
}

#endif /* BARMAP_DROPIN_LOADED_LIBRARY_H */
