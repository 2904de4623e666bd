// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <cstddef>

#define BARMAP_INTERPOSED __attribute__((visibility("default")))

/// The functions that this library exports in place of the driver's.
extern "C" {

BARMAP_INTERPOSED CUresult cuGetProcAddress(char const* name, void** function, int version,
                                            unsigned long long flags);
BARMAP_INTERPOSED CUresult cuGetProcAddress_v2(char const* name, void** function, int version,
                                               unsigned long long flags, int* status);

// CUDA 12.8 and 12.9.
BARMAP_INTERPOSED CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from,
                                              std::size_t* bytes, std::size_t count,
                                              CUmemcpyAttributes* attributes, std::size_t* first_of,
                                              std::size_t attribute_count, std::size_t* failed,
                                              CUstream stream);
BARMAP_INTERPOSED CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr* to, CUdeviceptr* from,
                                                   std::size_t* bytes, std::size_t count,
                                                   CUmemcpyAttributes* attributes,
                                                   std::size_t* first_of,
                                                   std::size_t attribute_count, std::size_t* failed,
                                                   CUstream stream);
// CUDA 13.
BARMAP_INTERPOSED CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from,
                                                 std::size_t* bytes, std::size_t count,
                                                 CUmemcpyAttributes* attributes,
                                                 std::size_t* first_of, std::size_t attribute_count,
                                                 CUstream stream);
BARMAP_INTERPOSED CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr* to, CUdeviceptr* from,
                                                      std::size_t* bytes, std::size_t count,
                                                      CUmemcpyAttributes* attributes,
                                                      std::size_t* first_of,
                                                      std::size_t attribute_count, CUstream stream);

} // extern "C"
