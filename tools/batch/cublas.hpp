// SPDX-License-Identifier: MIT
#pragma once

#include "bench/gpu_memory.hpp"

namespace barmap::tool {

/// A matrix product that keeps the GPU busy for a millisecond or more, by cuBLAS, which is loaded
/// where it is there. Needs the GPU's context for as long as it lives. Thread rule: one thread.
class large_product {
public:
    large_product(); ///< @throws error where there is no cuBLAS, or it fails
    large_product(large_product const&) = delete;
    large_product& operator=(large_product const&) = delete;
    ~large_product();

    void submit(CUstream stream); ///< @throws error

private:
    void* library_ = nullptr; ///< from here on it stays loaded: it does not unload cleanly
    void* handle_ = nullptr;
    gpu_memory a_, b_, c_;
};

} // namespace barmap::tool
