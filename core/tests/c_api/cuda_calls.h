// SPDX-License-Identifier: MIT
/// Calls of CUDA's driver, for tests that need a stream or a context of it.
#ifndef BARMAP_TESTS_C_API_CUDA_CALLS_H
#define BARMAP_TESTS_C_API_CUDA_CALLS_H

#include "check.h"

#include <dlfcn.h>
#include <stddef.h>

static void* driver; ///< as dlopen knows it; use_driver() sets it

/// @return what the function returns; -1 if the driver lacks it
static int cu(char const* name, void* a, void* b) {
    int (*function)(void*, void*) = NULL;
    *(void**)&function = dlsym(driver, name);
    return function ? function(a, b) : -1;
}

/// Finds the driver that the library has loaded, and makes GPU 0's context current.
/// @return a stream that waits for no other
static void* use_driver(void) {
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void* context = NULL;
    void* stream = NULL;
    CHECK(cu("cuDevicePrimaryCtxRetain", &context, NULL) == 0);
    CHECK(cu("cuCtxSetCurrent", context, NULL) == 0);
    CHECK(cu("cuStreamCreate", &stream, (void*)1) == 0);
    return stream;
}

#endif
