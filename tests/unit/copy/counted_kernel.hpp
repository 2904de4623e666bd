// SPDX-License-Identifier: MIT
#pragma once

#include "copy/plan.hpp"

#include <ostream>

namespace barmap::copy {

/// How GoogleTest shows a test's parameter.
inline void PrintTo(copy_kernel const& kernel, std::ostream* out) {
    *out << kernel.name;
}

/// A kernel that counts its calls and passes them on, so that a test can tell whether the kernel
/// that it forced is the one that ran. One at a time: a kernel is plain functions, without state.
struct counted_kernel {
    static inline copy_kernel const* inner = nullptr;
    static inline int stores = 0, loads = 0;

    static copy_kernel const& around(copy_kernel const& kernel) {
        static copy_kernel counted{};
        inner = &kernel;
        stores = loads = 0;
        counted = {kernel.name, kernel.needs, kernel.width,
                   [](void* gpu, void const* host, std::size_t bytes) noexcept {
                       ++stores;
                       inner->store(gpu, host, bytes);
                   },
                   [](void* host, void const* gpu, std::size_t bytes) noexcept {
                       ++loads;
                       inner->load(host, gpu, bytes);
                   }};
        return counted;
    }
};

} // namespace barmap::copy
