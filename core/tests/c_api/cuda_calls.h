// SPDX-License-Identifier: MIT
/// Calls of CUDA's driver, for tests that need a stream or a context of it.
#ifndef BARMAP_TESTS_C_API_CUDA_CALLS_H
#define BARMAP_TESTS_C_API_CUDA_CALLS_H

#include <dlfcn.h>
#include <stddef.h>

static void* driver; ///< as dlopen knows it; the test sets it

/// @return what the function returns; -1 if the driver lacks it
static int cu(char const* name, void* a, void* b) {
    int (*function)(void*, void*) = NULL;
    *(void**)&function = dlsym(driver, name);
    return function ? function(a, b) : -1;
}

#endif
