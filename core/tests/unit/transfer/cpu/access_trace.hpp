// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace barmap::copy {

/// What an instruction does that a trace takes note of.
enum class step : char {
    access = 'a', ///< touches the memory
    sfence = 'S',
    mfence = 'M',
    lfence = 'L',
    locked = 'K', ///< any instruction with a LOCK prefix, or an exchange with memory
    pause = 'P',
};

struct traced_step {
    step what;
    std::uintptr_t at; ///< of an access: its offset in the memory
};

/// The accesses of some code to some memory and, if asked for, the barriers that it executes, in
/// order.
///
/// The memory is closed but for the one instruction that has just faulted on it; for the barriers,
/// each instruction traps, so that its opcode can be looked at, which takes microseconds. So what
/// is seen is what the compiled code really does. x86-64 only; one trace at a time, on one thread.
/// @param memory whole pages, readable and writable
std::vector<traced_step> trace_steps(std::span<std::byte> memory, bool barriers, void (*run)(void*),
                                     void* argument);

/// The same for a callable.
template <class Run>
std::vector<traced_step> trace_steps(std::span<std::byte> memory, bool barriers, Run run) {
    return trace_steps(
        memory, barriers, [](void* argument) { (*static_cast<Run*>(argument))(); }, &run);
}

/// Offsets of the accesses alone.
template <class Run>
std::vector<std::uintptr_t> trace_accesses(std::span<std::byte> memory, Run run) {
    std::vector<std::uintptr_t> at;
    for (traced_step const& each : trace_steps(memory, false, run)) {
        at.push_back(each.at);
    }
    return at;
}

/// The steps as letters, accesses with nothing between them as one: "Ma" is an MFENCE, then
/// accesses.
template <class Run>
std::string trace_order(std::span<std::byte> memory, Run run) {
    std::string order;
    for (traced_step const& each : trace_steps(memory, true, run)) {
        auto const letter = static_cast<char>(each.what);
        if (each.what != step::access || order.empty() || order.back() != letter) {
            order += letter;
        }
    }
    return order;
}

/// Why there can be no trace in this build, or null.
inline char const* why_no_trace() noexcept {
#if defined(__SANITIZE_THREAD__)
    return "ThreadSanitizer delays the signals that a trace is made of";
#else
    return nullptr;
#endif
}

} // namespace barmap::copy
