// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace barmap::copy {

/// Addresses at which instructions touch a page while something runs, in order.
///
/// Works by faults: the page is closed, each access opens it for one single-stepped instruction.
/// So what is seen is what the compiled code really does. x86 only; one trace at a time; the traced
/// code must do nothing but copy.
std::vector<std::uintptr_t> trace_accesses(std::byte* page, void (*run)(void*), void* argument);

/// The same for a callable.
template <class Run>
std::vector<std::uintptr_t> trace_accesses(std::byte* page, Run run) {
    return trace_accesses(
        page, [](void* argument) { (*static_cast<Run*>(argument))(); }, &run);
}

} // namespace barmap::copy
