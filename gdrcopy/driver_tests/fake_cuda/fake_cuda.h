/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A libcuda.so.1 over /dev/fakegpu, so that libbarmap and libgdrapi can run in the guest against the driver:
 * one GPU, memory by cuMemAlloc, host memory that it may reach, copies, and streams on which everything is done at
 * once. The CUDA side of the copies goes through PCI's own view of the BAR, not through the driver under test.
 */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef unsigned long long CUdeviceptr;
typedef void *CUcontext;
typedef void *CUstream;
typedef void *CUevent;

enum { SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, NO_DEVICE = 100, INVALID_DEVICE, INVALID_CONTEXT = 201,
       INVALID_HANDLE = 400 };

#define ENTRY __attribute__((visibility("default")))

extern int fake_gpu; /* /dev/fakegpu */
extern volatile uint8_t *fake_bar;
extern char fake_context; /* its address is the only context */

#endif /* FAKE_CUDA_H */
