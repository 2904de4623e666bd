/* SPDX-License-Identifier: MIT */
/* sum[i] = a[i] + b[i] on the GPU, for the examples of vkgdr, in C and in C++. The kernel is PTX
 * and the CUDA driver is found at run time, so that no CUDA compiler and no cuda.h are needed. */
#ifndef ADD_ON_GPU_H
#define ADD_ON_GPU_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct add_on_gpu {
    void* kernel;
    int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void*, void**, void**);
    int (*synchronize)(void);
    int (*error_text)(int, char const**);
} add_on_gpu;

static char const add_on_gpu_ptx[] = ".version 6.4\n"
                                     ".target sm_70\n"
                                     ".address_size 64\n"
                                     ".visible .entry barmap_add(\n"
                                     "    .param .u64 p_a, .param .u64 p_b,\n"
                                     "    .param .u64 p_sum, .param .u64 p_count)\n"
                                     "{\n"
                                     "    .reg .pred %p<2>;\n"
                                     "    .reg .b32 %r<4>;\n"
                                     "    .reg .f32 %f<4>;\n"
                                     "    .reg .b64 %rd<8>;\n"
                                     "    mov.u32 %r1, %ctaid.x;\n"
                                     "    mov.u32 %r2, %ntid.x;\n"
                                     "    mov.u32 %r3, %tid.x;\n"
                                     "    mul.wide.u32 %rd1, %r1, %r2;\n"
                                     "    cvt.u64.u32 %rd2, %r3;\n"
                                     "    add.u64 %rd1, %rd1, %rd2;\n"
                                     "    ld.param.u64 %rd3, [p_count];\n"
                                     "    setp.ge.u64 %p1, %rd1, %rd3;\n"
                                     "    @%p1 bra DONE;\n"
                                     "    shl.b64 %rd4, %rd1, 2;\n"
                                     "    ld.param.u64 %rd5, [p_a];\n"
                                     "    ld.param.u64 %rd6, [p_b];\n"
                                     "    ld.param.u64 %rd7, [p_sum];\n"
                                     "    cvta.to.global.u64 %rd5, %rd5;\n"
                                     "    cvta.to.global.u64 %rd6, %rd6;\n"
                                     "    cvta.to.global.u64 %rd7, %rd7;\n"
                                     "    add.u64 %rd5, %rd5, %rd4;\n"
                                     "    add.u64 %rd6, %rd6, %rd4;\n"
                                     "    add.u64 %rd7, %rd7, %rd4;\n"
                                     "    ld.global.f32 %f1, [%rd5];\n"
                                     "    ld.global.f32 %f2, [%rd6];\n"
                                     "    add.f32 %f3, %f1, %f2;\n"
                                     "    st.global.f32 [%rd7], %f3;\n"
                                     "DONE:\n"
                                     "    ret;\n"
                                     "}\n";

static inline int add_on_gpu_failed(add_on_gpu const* add, int result) {
    char const* text = NULL;
    add->error_text(result, &text);
    fprintf(stderr, "CUDA returns %d: %s\n", result, text ? text : "unknown error");
    return result;
}

/* Makes the primary context of GPU 0 current and loads the kernel. 0 if all went well, else it
 * has printed why. */
static inline int add_on_gpu_start(add_on_gpu* add) {
    static char const* const names[] = {
        "cuInit",          "cuDeviceGet",      "cuDevicePrimaryCtxRetain",
        "cuCtxSetCurrent", "cuModuleLoadData", "cuModuleGetFunction",
        "cuLaunchKernel",  "cuCtxSynchronize", "cuGetErrorString"};
    enum { functions = sizeof names / sizeof *names };
    void* found[functions];
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    for (int i = 0; i < functions; ++i) {
        found[i] = driver ? dlsym(driver, names[i]) : NULL;
        if (!found[i]) {
            fprintf(stderr, "there is no CUDA driver with %s\n", names[i]);
            return 1;
        }
    }
    int (*initialise)(unsigned);
    int (*get_device)(int*, int);
    int (*retain)(void**, int);
    int (*set_current)(void*);
    int (*load)(void**, void const*);
    int (*get_function)(void**, void*, char const*);
    memcpy(&initialise, &found[0], sizeof initialise);
    memcpy(&get_device, &found[1], sizeof get_device);
    memcpy(&retain, &found[2], sizeof retain);
    memcpy(&set_current, &found[3], sizeof set_current);
    memcpy(&load, &found[4], sizeof load);
    memcpy(&get_function, &found[5], sizeof get_function);
    memcpy(&add->launch, &found[6], sizeof add->launch);
    memcpy(&add->synchronize, &found[7], sizeof add->synchronize);
    memcpy(&add->error_text, &found[8], sizeof add->error_text);

    int device = 0, result = 0;
    void *context = NULL, *module = NULL;
    if ((result = initialise(0)) || (result = get_device(&device, 0)) ||
        (result = retain(&context, device)) || (result = set_current(context)) ||
        (result = load(&module, add_on_gpu_ptx)) ||
        (result = get_function(&add->kernel, module, "barmap_add")))
        return add_on_gpu_failed(add, result);
    return 0;
}

/* Adds and waits. The arguments are addresses on the GPU. 0 if all went well, else it has printed
 * why. */
static inline int add_on_gpu_run(add_on_gpu const* add, unsigned long long a, unsigned long long b,
                                 unsigned long long sum, unsigned long long count) {
    unsigned const threads = 256, blocks = (unsigned)((count + threads - 1) / threads);
    void* parameters[] = {&a, &b, &sum, &count};
    int result = add->launch(add->kernel, blocks, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL);
    if (result == 0)
        result = add->synchronize();
    return result ? add_on_gpu_failed(add, result) : 0;
}

#endif /* ADD_ON_GPU_H */
