/* SPDX-License-Identifier: MIT */
/*
 * As aws-ofi-nccl's GIN proxy uses libgdrapi: the unversioned name with RTLD_LOCAL, the lesser of
 * the library's and the driver's version (below 2.5 it gives up), pins through PCIe tried first,
 * handle 0 for "not pinned", and a worker thread without a CUDA context that adds to 8-byte signals
 * by a copy from the mapping and one to it.
 */
#include <gdrapi.h>

#include "loaded_library.h"

#include <errno.h>
#include <pthread.h>

static gdr_t start(void** library) {
    *library = load_library("libgdrapi.so", RTLD_NOW | RTLD_LOCAL,
                            "open close pin_buffer unpin_buffer map unmap copy_to_mapping "
                            "copy_from_mapping runtime_get_version driver_get_version");
    gdr_t const g = open_session();
    /* GIN would be refused below. */
    REQUIRE(library_version() >= 2005 && driver_version(g) >= 2005);
    REQUIRE(take_functions(*library, "pin_buffer_v2") == 0);
    return g;
}

struct region {
    unsigned long pin; /* 0: none */
    void* mapped;
    size_t length;
    char* cpu; /* of the address that was asked for */
};

static struct region enroll(gdr_t g, uint64_t address, size_t size) {
    struct region made;
    uint64_t const begin = page_of(address);
    made.length = next_page(address + size - begin);
    gdr_mh_t handle = {0};
    int pinned = gdr.pin_buffer_v2(g, begin, made.length, GDR_PIN_FLAG_FORCE_PCIE, &handle);
    if (pinned != 0) {
        REQUIRE(pinned == EINVAL || pinned == ENOTSUP);
        pinned = gdr.pin_buffer_v2(g, begin, made.length, 0, &handle);
    }
    REQUIRE_0(pinned);
    REQUIRE(handle.h != 0);
    made.pin = handle.h;
    made.mapped = NULL;
    REQUIRE_0(gdr.map(g, (gdr_mh_t){made.pin}, &made.mapped, made.length));
    made.cpu = (char*)made.mapped + (address - begin);
    return made;
}

static void dismiss(gdr_t g, struct region what) {
    unmap_and_unpin(g, (gdr_mh_t){what.pin}, what.mapped, what.length);
}

struct worker {
    struct region region;
    size_t size; /* of the signals */
};
enum { rounds = 500 };

/* Adds 1 to every signal, many times. */
static void* add_to_signals(void* argument) {
    struct worker const* const work = argument;
    gdr_mh_t const handle = {work->region.pin};
    for (unsigned round = 0; round < rounds; ++round)
        for (size_t offset = 0; offset < work->size; offset += sizeof(uint64_t)) {
            uint64_t value = 0;
            char* const place = work->region.cpu + offset;
            REQUIRE_0(gdr.copy_from_mapping(handle, &value, place, sizeof value));
            REQUIRE(value == round);
            ++value;
            REQUIRE_0(gdr.copy_to_mapping(handle, place, &value, sizeof value));
        }
    return NULL;
}

static void use_signals(struct cuda_driver const* cuda, gdr_t g, uint64_t address, size_t size) {
    require_cuda(cuda->set_bytes(address, 0, size), "cuMemsetD8");
    require_cuda(cuda->synchronize(), "cuCtxSynchronize");
    struct worker work = {enroll(g, address, size), size};
    pthread_t thread;
    REQUIRE_0(pthread_create(&thread, NULL, add_to_signals, &work));
    REQUIRE_0(pthread_join(thread, NULL));
    uint64_t* const seen = some_bytes(size);
    require_cuda(cuda->to_host(seen, address, size), "cuMemcpyDtoH");
    for (size_t i = 0; i < size / sizeof *seen; ++i)
        REQUIRE(seen[i] == rounds);
    free(seen);
    dismiss(g, work.region);
}

/* Regions are made, too, on a thread that has no CUDA context. */
static void* enroll_without_context(void* argument) {
    struct gpu_block const* const block = ((void**)argument)[0];
    gdr_t const g = ((void**)argument)[1];
    struct region const region = enroll(g, block->address, block->size);
    unsigned char* const bytes = some_bytes(block->size);
    REQUIRE_0(gdr.copy_from_mapping((gdr_mh_t){region.pin}, bytes, region.cpu, block->size));
    require_pattern(bytes, block->size, block->seed, "on a thread without a context");
    REQUIRE_0(gdr.copy_to_mapping((gdr_mh_t){region.pin}, region.cpu, bytes, block->size));
    free(bytes);
    dismiss(g, region);
    return NULL;
}

int main(void) {
    struct cuda_driver const cuda = start_cuda(0);
    void* library = NULL;
    gdr_t const g = start(&library);
    struct neighbours around = {.made = 0};
    make_neighbour(&cuda, &around);
    struct gpu_block const small = allocate_block(&cuda, 256, 30);
    make_neighbour(&cuda, &around);
    make_neighbour(&cuda, &around);
    use_signals(&cuda, g, small.address, small.size);
    use_signals(&cuda, g, small.address + 8, 16);
    /* A window of several segments: the proxy pins one of them. */
    struct gpu_chunks const window = make_chunks(&cuda, 3);
    use_signals(&cuda, g, window.address + window.chunk_size, 64);
    use_signals(&cuda, g, window.address + 2 * window.chunk_size - 64, 64);
    free_chunks(&cuda, window);

    struct gpu_block const data = allocate_block(&cuda, 100000, 31);
    void* argument[] = {(void*)&data, g};
    pthread_t thread;
    REQUIRE_0(pthread_create(&thread, NULL, enroll_without_context, argument));
    REQUIRE_0(pthread_join(thread, NULL));
    require_untouched(&cuda, data);
    free_block(&cuda, data);
    free_block(&cuda, small);
    require_neighbours_untouched(&cuda, &around);
    free_neighbours(&cuda, &around);
    REQUIRE_0(gdr.close(g));
    REQUIRE_0(dlclose(library));
    printf("aws_ofi_nccl: ok\n");
    return 0;
}
