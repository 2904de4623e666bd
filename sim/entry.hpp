// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/types.hpp"

#include <mutex>
#include <new>
#include <string>
#include <type_traits>

/// A function of the driver API.
#define BARMAP_SIM_ENTRY extern "C" __attribute__((visibility("default"))) CUresult

namespace barmap::sim {

// CUresult values that only the simulated driver answers.
inline constexpr CUresult error_illegal_state = 401;
inline constexpr CUresult error_already_mapped = 208;
inline constexpr CUresult error_invalid_image = 200;
inline constexpr CUresult error_operating_system = 304;
inline constexpr CUresult error_symbol_not_found = 500;
inline constexpr CUresult error_peer_already_enabled = 704;
inline constexpr CUresult error_peer_not_enabled = 705;
inline constexpr CUresult error_host_already_registered = 712;
inline constexpr CUresult error_host_not_registered = 713;
inline constexpr CUresult error_peer_unsupported = 217;
inline constexpr CUresult error_primary_active = 708;

/// Leaves a call with an error code; caught at the C boundary.
struct refusal {
    CUresult code;
};

[[noreturn]] inline void refuse(CUresult code) {
    throw refusal{code};
}

inline void require(bool condition, CUresult code = cuda::error_invalid_value) {
    if (!condition)
        refuse(code);
}

/// What a caller's out-parameter points at.
template <class T>
T& out(T* pointer) {
    require(pointer != nullptr);
    return *pointer;
}

/// When a function may be called.
enum class admitted {
    after_init,
    before_init, ///< but not in a forked child
    always,
};

/// What every call does first: counts it, fails it if asked to, and refuses it if it comes before
/// cuInit or in a forked child.
/// @return success if the call may go on
[[nodiscard]] CUresult admit(char const* function, admitted when) noexcept;

/// From now on calls are admitted in this process, but not in children that it forks.
void mark_initialised();

/// Whether a driver function of this name is there, with or without a version suffix.
[[nodiscard]] bool has_function(std::string const& name);

/// The mutex that guards everything in the simulated driver.
[[nodiscard]] std::mutex& world_mutex() noexcept;

/// The lock that a running call holds; blocking calls wait with it.
using world_lock = std::unique_lock<std::mutex>;

/// Runs body(), which returns a CUresult or nothing, and turns what it throws into a CUresult.
template <class Body>
CUresult guarded(Body&& body) noexcept {
    try {
        if constexpr (std::is_void_v<decltype(body())>) {
            body();
            return cuda::success;
        } else {
            return body();
        }
    } catch (refusal const& why) {
        return why.code;
    } catch (std::bad_alloc const&) {
        return cuda::error_out_of_memory;
    } catch (...) {
        return cuda::error_unknown;
    }
}

/// The C boundary: runs body(lock) as one call of `function` (its name without a version suffix).
template <class Body>
CUresult call(char const* function, Body&& body, admitted when = admitted::after_init) noexcept {
    if (CUresult const refused = admit(function, when))
        return refused;
    return guarded([&] {
        world_lock lock(world_mutex());
        return body(lock);
    });
}

/// The same for a function that looks at constants only, and so works in a forked child too.
template <class Body>
CUresult constant_call(char const* function, Body&& body) noexcept {
    if (CUresult const refused = admit(function, admitted::always))
        return refused;
    return guarded(body);
}

} // namespace barmap::sim
