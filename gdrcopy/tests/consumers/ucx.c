/* SPDX-License-Identifier: MIT */
/*
 * As UCX's gdr_copy transport uses libgdrapi: linked with it, opened once only to look, the
 * header's generation of gdr_get_info, registrations rounded to whole GPU pages around other
 * people's memory, and short copies by several threads through one handle.
 */
#include "shared/gpu_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <gdrapi.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int of_first_generation(int major, int minor) {
    return major < 2 || (major == 2 && minor <= 3);
}

/* What UCX does in every process that it is loaded into. */
static int probe(void) {
    int major = 0, minor = 0;
    gdr_runtime_get_version(&major, &minor);
    REQUIRE(of_first_generation(GDR_API_MAJOR_VERSION, GDR_API_MINOR_VERSION) ==
            of_first_generation(major, minor));
    gdr_t const g = gdr_open();
    if (g)
        REQUIRE_0(gdr_close(g));
    return g != NULL;
}

static int descriptor_count(void) {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

/* Starts this program again and returns what it printed, of both streams, and its exit status. */
static int printed_by_probing(int with_gpu, char* text, size_t size) {
    int ends[2];
    REQUIRE_0(pipe(ends));
    pid_t const child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        unsetenv("GDRCOPY_ENABLE_LOGGING");
        unsetenv("BARMAP_LOG");
        if (!with_gpu) {
            setenv("CUDA_VISIBLE_DEVICES", "", 1);
            setenv("BARMAP_SIM_DEVICES", "0", 1);
        }
        execl("/proc/self/exe", "ucx", "probe", (char*)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], text + length, size - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void probing_is_quiet(void) {
    char text[4096];
    int const with_gpu = printed_by_probing(1, text, sizeof text);
    if (with_gpu != 0 || text[0] != '\0')
        fail("probing ended with %d and printed: %s", with_gpu, text);
    int const without = printed_by_probing(0, text, sizeof text);
    if (without != 2 || text[0] != '\0')
        fail("probing without a GPU ended with %d and printed: %s", without, text);
}

struct registration {
    gdr_mh_t handle;
    gdr_info_t info;
    void* bar;
    size_t size;
};

/* `flags` are tried first, and given up where the library cannot meet them. */
static struct registration enroll(gdr_t g, uint64_t address, size_t length, uint32_t flags) {
    struct registration made;
    int pinned = gdr_pin_buffer_v2(g, address, length, flags, &made.handle);
    if (pinned != 0 && flags != GDR_PIN_FLAG_DEFAULT)
        pinned = gdr_pin_buffer_v2(g, address, length, GDR_PIN_FLAG_DEFAULT, &made.handle);
    REQUIRE_0(pinned);
    REQUIRE_0(gdr_map(g, made.handle, &made.bar, length));
    made.size = length;
    REQUIRE_0(gdr_get_info(g, made.handle, &made.info));
    REQUIRE(made.info.mapped && made.info.mapping_type != GDR_MAPPING_TYPE_NONE);
    REQUIRE(made.info.va <= address && made.info.va + made.info.mapped_size >= address + length);
    return made;
}

static void dismiss(gdr_t g, struct registration what) {
    REQUIRE_0(gdr_unmap(g, what.handle, what.bar, what.size));
    REQUIRE_0(gdr_unpin_buffer(g, what.handle));
}

static void put_short(struct registration const* at, uint64_t remote, void const* from,
                      unsigned n) {
    if (n != 0)
        REQUIRE_0(
            gdr_copy_to_mapping(at->handle, (char*)at->bar + (remote - at->info.va), from, n));
}

static void get_short(struct registration const* at, uint64_t remote, void* to, unsigned n) {
    if (n != 0)
        REQUIRE_0(
            gdr_copy_from_mapping(at->handle, to, (char*)at->bar + (remote - at->info.va), n));
}

/* The registration cache widens a buffer to whole GPU pages; the transport itself does not. */
static void exchange(struct cuda_driver const* cuda, gdr_t g, struct gpu_block block, int widened,
                     uint32_t flags) {
    uint64_t const begin = widened ? page_of(block.address) : block.address;
    uint64_t const end =
        widened ? next_page(block.address + block.size) : block.address + block.size;
    struct registration const memory = enroll(g, begin, end - begin, flags);
    unsigned const size = (unsigned)block.size;
    unsigned char* const bytes = some_bytes(block.size);
    get_short(&memory, block.address, bytes, size);
    require_pattern(bytes, size, block.seed, "get_short");
    unsigned char const mark = 0x3c;
    put_short(&memory, block.address + size - 1, &mark, 1);
    require_cuda(cuda->to_host(bytes, block.address, size), "cuMemcpyDtoH");
    REQUIRE(bytes[size - 1] == mark);
    require_pattern(bytes, size - 1, block.seed, "all but the byte that was put");
    fill_pattern(bytes, size, block.seed);
    put_short(&memory, block.address, bytes, size);
    require_untouched(cuda, block);
    free(bytes);
    dismiss(g, memory);
}

enum { thread_count = 4, rounds = 2000, slot_size = 1 << 14 };

struct thread_work {
    struct registration const* memory;
    uint64_t slot;
    unsigned seed;
};

/* Messages of many sizes at odd addresses, each read back at once. */
static void* send_messages(void* argument) {
    struct thread_work const* const work = argument;
    unsigned char sent[1024], seen[1024];
    uint32_t random = work->seed;
    for (unsigned i = 0; i < rounds; ++i) {
        random = random * 1664525u + 1013904223u;
        unsigned const n = 1 + (random >> 8) % sizeof sent;
        unsigned const offset = (random >> 16) % (slot_size - n);
        fill_pattern(sent, n, random >> 4);
        put_short(work->memory, work->slot + offset, sent, n);
        memset(seen, 0, n);
        get_short(work->memory, work->slot + offset, seen, n);
        require_pattern(seen, n, random >> 4, "a thread's message");
    }
    return NULL;
}

static void threads(struct cuda_driver const* cuda, gdr_t g) {
    struct gpu_block const block = allocate_block(cuda, thread_count * slot_size, 50);
    struct registration const memory = enroll(g, block.address, block.size, GDR_PIN_FLAG_DEFAULT);
    pthread_t running[thread_count];
    struct thread_work work[thread_count];
    for (unsigned i = 0; i < thread_count; ++i) {
        work[i] = (struct thread_work){&memory, block.address + i * (uint64_t)slot_size, i + 1};
        REQUIRE_0(pthread_create(&running[i], NULL, send_messages, &work[i]));
    }
    for (unsigned i = 0; i < thread_count; ++i)
        REQUIRE_0(pthread_join(running[i], NULL));
    dismiss(g, memory);
    free_block(cuda, block);
}

int main(int count, char** arguments) {
    if (count == 2 && strcmp(arguments[1], "probe") == 0) {
        int opened = 0;
        for (int i = 0; i < 5; ++i)
            opened += probe();
        return opened == 5 ? 0 : opened == 0 ? 2 : 1;
    }
    struct cuda_driver const cuda = start_cuda(0);
    probing_is_quiet();
    REQUIRE(probe());
    int const before = descriptor_count();
    for (int i = 0; i < 20; ++i)
        REQUIRE(probe());
    REQUIRE(descriptor_count() == before);

    gdr_t const g = gdr_open();
    REQUIRE(g);
    struct neighbours around = {.made = 0};
    make_neighbour(&cuda, &around);
    struct gpu_block const blocks[] = {
        allocate_block(&cuda, 1, 20),       allocate_block(&cuda, 1000, 21),
        allocate_block(&cuda, 65536, 22),   allocate_block(&cuda, 70001, 23),
        allocate_block(&cuda, 3 << 20, 24),
    };
    make_neighbour(&cuda, &around);
    make_neighbour(&cuda, &around);
    for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; ++i)
        for (int way = 0; way < 4; ++way) {
            uint32_t const flags = way & 2 ? GDR_PIN_FLAG_FORCE_PCIE : GDR_PIN_FLAG_DEFAULT;
            gdr_mh_t none;
            if (flags == GDR_PIN_FLAG_DEFAULT || is_coherent(&cuda))
                exchange(&cuda, g, blocks[i], way & 1, flags);
            else /* as UCX_GDR_COPY_USE_PCIE=yes expects it */
                REQUIRE(gdr_pin_buffer_v2(g, blocks[i].address, 1, flags, &none) == EINVAL);
        }
    threads(&cuda, g);
    require_neighbours_untouched(&cuda, &around);
    for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; ++i) {
        require_untouched(&cuda, blocks[i]);
        free_block(&cuda, blocks[i]);
    }
    free_neighbours(&cuda, &around);
    REQUIRE_0(gdr_close(g));
    printf("ucx: ok\n");
    return 0;
}
