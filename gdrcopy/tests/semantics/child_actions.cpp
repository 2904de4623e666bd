// SPDX-License-Identifier: MIT
#include "semantics/child.hpp"

#include "shared/gpu_memory.h"

#include <cerrno>
#include <cstdint>
#include <gdrapi.h>
#include <sys/wait.h>
#include <unistd.h>

namespace barmap::dropin {
namespace {

// Whether a session can be had at all, several times.
int open() {
    for (int i = 0; i < 3; ++i) {
        gdr_t const g = gdr_open();
        std::printf("open %d\n", g != nullptr);
        if (g)
            REQUIRE_0(gdr_close(g));
    }
    return 0;
}

int open_with_cuda() {
    (void)start_cuda(0);
    return open();
}

int attributes() {
    gdr_t const g = gdr_open();
    REQUIRE(g);
    int value = -1;
    REQUIRE_0(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, &value));
    std::printf("persistent %d\n", value);
    REQUIRE_0(gdr_get_attribute(g, GDR_ATTR_USING_DMA_BUF_MMAP, &value));
    std::printf("dmabuf %d\n", value);
    REQUIRE_0(gdr_close(g));
    return 0;
}

// A session that is opened before the program has called CUDA leaves no context, nor does one that
// is opened afterwards, on a thread without one.
int before_cuda() {
    gdr_t const g = gdr_open();
    REQUIRE(g);
    struct cuda_driver cuda = load_cuda();
    void* context = &cuda;
    require_cuda(cuda.get_current(&context), "cuCtxGetCurrent");
    std::printf("current %d\n", context != nullptr);
    unsigned flags = 0;
    int active = -1;
    require_cuda(cuda.primary_state(0, &flags, &active), "cuDevicePrimaryCtxGetState");
    std::printf("active %d\n", active);
    gdr_t const after_cuda = gdr_open();
    REQUIRE(after_cuda);
    require_cuda(cuda.primary_state(0, &flags, &active), "cuDevicePrimaryCtxGetState");
    std::printf("active %d\n", active);
    REQUIRE_0(gdr_close(after_cuda));
    REQUIRE_0(gdr_close(g));
    return 0;
}

// A session that works, on the last device that there is.
int use(int ordinal) {
    gdr_t const g = gdr_open();
    REQUIRE(g);
    struct cuda_driver const cuda = start_cuda(ordinal);
    gpu_block const block = allocate_block(&cuda, 70000, 5);
    gdr_mh_t handle{};
    gdr_info_t info{};
    void* va = nullptr;
    REQUIRE_0(gdr_pin_buffer(g, block.address, block.size, 0, 0, &handle));
    REQUIRE_0(gdr_get_info(g, handle, &info));
    REQUIRE_0(gdr_map(g, handle, &va, block.size));
    char* const cpu = static_cast<char*>(va) + (block.address - info.va);
    void* const bytes = some_bytes(block.size);
    REQUIRE_0(gdr_copy_from_mapping(handle, bytes, cpu, block.size));
    require_pattern(bytes, block.size, 5, "gdr_copy_from_mapping");
    fill_pattern(bytes, block.size, 6);
    REQUIRE_0(gdr_copy_to_mapping(handle, cpu, bytes, block.size));
    require_gpu_pattern(&cuda, block.address, block.size, 6, "gdr_copy_to_mapping");
    free(bytes);
    REQUIRE_0(gdr_unmap(g, handle, va, block.size));
    REQUIRE_0(gdr_unpin_buffer(g, handle));
    free_block(&cuda, block);
    REQUIRE_0(gdr_close(g));
    return 0;
}

/// @return the exit code of the action in a forked child
template <class Action>
int in_child(Action action) {
    std::fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        int const code = action();
        std::fflush(stdout);
        _exit(code);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A session and what is asked of it before anything is pinned leave CUDA to the children.
int fork_after_open() {
    gdr_t const g = gdr_open();
    REQUIRE(g);
    int major = 0, minor = 0, value = 0;
    REQUIRE_0(gdr_driver_get_version(g, &major, &minor));
    for (gdr_attr_t const each :
         {GDR_ATTR_USE_PERSISTENT_MAPPING, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE,
          GDR_ATTR_USING_DMA_BUF_MMAP})
        REQUIRE_0(gdr_get_attribute(g, each, &value));
    std::printf("child %d\n", in_child([&] {
                    gdr_mh_t handle{};
                    REQUIRE(gdr_pin_buffer(g, 4096, 8, 0, 0, &handle) == EACCES);
                    REQUIRE_0(gdr_close(g));
                    return use(0);
                }));
    REQUIRE_0(use(0));
    std::printf("child of a user of CUDA %d\n", in_child([] { return gdr_open() ? 1 : 0; }));
    REQUIRE_0(gdr_close(g));
    return 0;
}

// Opening looks at the GPU of the context, so that CUDA is in use.
int fork_after_open_with_cuda() {
    (void)start_cuda(0);
    gdr_t const g = gdr_open();
    REQUIRE(g);
    std::printf("child %d\n", in_child([] { return gdr_open() ? 1 : 0; }));
    REQUIRE_0(gdr_close(g));
    return 0;
}

// Only the pin finds out.
int pin_after_open() {
    gdr_t const g = gdr_open();
    REQUIRE(g);
    struct cuda_driver const cuda = start_cuda(0);
    gpu_block const block = allocate_block(&cuda, 100, 5);
    gdr_mh_t handle{};
    std::printf("pin %d\n", gdr_pin_buffer(g, block.address, 100, 0, 0, &handle));
    free_block(&cuda, block);
    REQUIRE_0(gdr_close(g));
    return 0;
}

// Refusals of every kind; their answers are printed, and what the log says of them is looked at.
int refusals() {
    gdr_t const g = gdr_open();
    REQUIRE(g);
    struct cuda_driver const cuda = start_cuda(0);
    gpu_block const block = allocate_block(&cuda, 100, 5);
    std::uint64_t managed = 0;
    require_cuda(cuda.mem_alloc_managed(&managed, 4096, 1), "cuMemAllocManaged");
    gdr_mh_t handle{};
    std::printf("size %d\n", gdr_pin_buffer(g, block.address, 0, 0, 0, &handle));
    std::printf("address %d\n", gdr_pin_buffer(g, 4096, 8, 0, 0, &handle));
    std::printf("managed %d\n", gdr_pin_buffer(g, managed, 8, 0, 0, &handle));
    std::printf("handle %d\n", gdr_unpin_buffer(g, {1}));
    std::printf("session %d\n", gdr_close(nullptr));
    REQUIRE_0(gdr_close(g));
    return 0;
}

// Ends as many programs do: with everything open.
int leave() {
    struct cuda_driver const cuda = start_cuda(0);
    gpu_block const block = allocate_block(&cuda, 100, 5);
    for (int i = 0; i < 3; ++i) {
        gdr_t const g = gdr_open();
        gdr_mh_t handle{};
        void* va = nullptr;
        REQUIRE_0(gdr_pin_buffer(g, block.address, 100, 0, 0, &handle));
        REQUIRE_0(gdr_map(g, handle, &va, 100));
    }
    return 0;
}

} // namespace

int act_as_child(std::string const& action) {
    if (action == "open")
        return open();
    if (action == "open_with_cuda")
        return open_with_cuda();
    if (action == "fork_after_open")
        return fork_after_open();
    if (action == "fork_after_open_with_cuda")
        return fork_after_open_with_cuda();
    if (action == "pin_after_open")
        return pin_after_open();
    if (action == "attributes")
        return attributes();
    if (action == "before_cuda")
        return before_cuda();
    if (action == "use")
        return use(0);
    if (action == "use_second")
        return use(1);
    if (action == "refusals")
        return refusals();
    if (action == "leave")
        return leave();
    std::printf("no action %s\n", action.c_str());
    return 2;
}

} // namespace barmap::dropin
