// SPDX-License-Identifier: MIT
#pragma once

#include "refusal.hpp"
#include "work.hpp"

#include "nvidia/cuda.hpp"

#include <atomic>
#include <mutex>
#include <string>

/// A function of the driver API.
#define BARMAP_SIM_ENTRY extern "C" __attribute__((visibility("default"))) CUresult

namespace barmap::sim {

// CUresult values that only the simulated driver answers.
inline constexpr CUresult error_invalid_image = 200;
inline constexpr CUresult error_operating_system = 304;
inline constexpr CUresult error_illegal_state = 401;
inline constexpr CUresult error_peer_not_enabled = 705;
inline constexpr CUresult error_host_not_registered = 713;
inline constexpr CUresult error_peer_unsupported = 217;

/// When a function may be called.
enum class admitted {
    after_init,
    before_init,       ///< but not in a forked child
    during_checkpoint, ///< as the first, and while the process is locked
    always,
};

/// The first step of every call: counts it, fails it if asked to, and refuses it if it comes before
/// cuInit or in a forked child.
/// @return success if the call may continue
[[nodiscard]] CUresult admit(char const* function, admitted when) noexcept;

/// Whether a batch of copies comes in a forked child, which the driver answers with success and
/// does not copy (R580 on an H200). Crashes, as the driver does there, where the child has called
/// one of the functions before that refuse it.
[[nodiscard]] bool passes_over_a_batch() noexcept;

/// CUprocessState: 0 while calls are admitted.
[[nodiscard]] std::atomic<int>& process_state() noexcept;

/// From now on calls are admitted in this process, but not in children that it forks.
void mark_initialised();

/// Whether a driver function of this name is there, with or without a version suffix.
[[nodiscard]] bool has_function(std::string const& name);

/// The mutex that guards everything in the simulated driver.
[[nodiscard]] std::mutex& world_mutex() noexcept;

/// The part of call() that is alike for every body, compiled once. @param closure handed to body
[[nodiscard]] CUresult call_body(char const* function, admitted when,
                                 CUresult (*body)(void const* closure, world_lock&),
                                 void const* closure) noexcept;

/// The C boundary: runs body(lock) as one call of `function` (its name without a version suffix).
template <class Body>
CUresult call(char const* function, Body const& body,
              admitted when = admitted::after_init) noexcept {
    return call_body(
        function, when,
        [](void const* closure, world_lock& lock) {
            return code_of(*static_cast<Body const*>(closure), lock);
        },
        &body);
}

/// The same for a function that looks at constants only, and so works in a forked child too.
template <class Body>
CUresult constant_call(char const* function, Body&& body) noexcept {
    if (CUresult const refused = admit(function, admitted::always))
        return refused;
    return guarded(body);
}

} // namespace barmap::sim
