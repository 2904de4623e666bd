// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/cpu/plan.hpp"

#include <ostream>

namespace barmap::copy {

/// How GoogleTest shows a test's parameter.
inline void PrintTo(copy_routine const& routine, std::ostream* out) {
    *out << routine.name;
}

/// A routine that counts its calls and passes them on, so that a test can tell whether the routine
/// that it forced is the one that ran. One at a time: a routine is plain functions, without state.
struct counted_routine {
    static inline copy_routine const* inner = nullptr;
    static inline int stores = 0, loads = 0;

    static copy_routine const& around(copy_routine const& routine) {
        static copy_routine counted{};
        inner = &routine;
        stores = loads = 0;
        counted = {routine.name, routine.needs, routine.width,
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
