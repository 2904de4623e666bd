// SPDX-License-Identifier: MIT
#pragma once

#include "measure/gpu_memory.hpp"

namespace barmap::tool {

/// A matrix product by cuBLAS that keeps the GPU busy for a millisecond or more. Loads cuBLAS at
/// run time. Needs the GPU's context while it lives. Thread rule: one thread.
class large_product {
public:
    large_product(); ///< @throws error if cuBLAS is missing or fails
    large_product(large_product const&) = delete;
    large_product& operator=(large_product const&) = delete;
    ~large_product();

    void submit(CUstream stream); ///< @throws error

private:
    void* library_ = nullptr; ///< stays loaded, since cuBLAS does not unload cleanly
    void* handle_ = nullptr;
    gpu_memory a_, b_, c_;
};

} // namespace barmap::tool
