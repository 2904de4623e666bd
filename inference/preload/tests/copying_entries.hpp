// SPDX-License-Identifier: MIT
#pragma once

namespace barmap::memcpy_replays {

/// What cuda.h of CUDA 13.5 (nvidia-cuda-runtime 13.5.37) declares of copies and of batches of
/// memory operations, under each symbol that a driver may have.
inline constexpr char const* copying_entries[] = {"cuFabricCpyBatchAsync",
                                                  "cuMemDiscardAndPrefetchBatchAsync",
                                                  "cuMemDiscardBatchAsync",
                                                  "cuMemPrefetchBatchAsync",
                                                  "cuMemcpy",
                                                  "cuMemcpy2D",
                                                  "cuMemcpy2DAsync",
                                                  "cuMemcpy2DUnaligned",
                                                  "cuMemcpy3D",
                                                  "cuMemcpy3DAsync",
                                                  "cuMemcpy3DBatchAsync",
                                                  "cuMemcpy3DPeer",
                                                  "cuMemcpy3DPeerAsync",
                                                  "cuMemcpy3DWithAttributesAsync",
                                                  "cuMemcpyAsync",
                                                  "cuMemcpyAtoA",
                                                  "cuMemcpyAtoD",
                                                  "cuMemcpyAtoH",
                                                  "cuMemcpyAtoHAsync",
                                                  "cuMemcpyDtoA",
                                                  "cuMemcpyDtoD",
                                                  "cuMemcpyDtoDAsync",
                                                  "cuMemcpyDtoH",
                                                  "cuMemcpyDtoHAsync",
                                                  "cuMemcpyHtoA",
                                                  "cuMemcpyHtoAAsync",
                                                  "cuMemcpyHtoD",
                                                  "cuMemcpyHtoDAsync",
                                                  "cuMemcpyPeer",
                                                  "cuMemcpyPeerAsync",
                                                  "cuMemcpyWithAttributesAsync"};

} // namespace barmap::memcpy_replays
