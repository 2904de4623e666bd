// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <span>
#include <string_view>

/// The functions of CUDA's driver that this library stands in front of. Thread rule: every function
/// may be called at once; none takes memory.
namespace barmap::memcpy_dropin {

struct interposed {
    char const* symbol;    ///< as the driver exports it
    std::string_view name; ///< as cuGetProcAddress knows it
    int since;             ///< the version of CUDA for which cuGetProcAddress gives this one
    bool per_thread;       ///< it takes a null stream for the thread's own
    void* (*ours)();       ///< its address
    std::atomic<void*> real{nullptr}; ///< the driver's own, once it has been looked for
};

/// The one that cuGetProcAddress gives for these arguments, or null.
[[nodiscard]] interposed* find_interposed(std::string_view name, int version,
                                          unsigned long long flags) noexcept;
/// The one that the driver exports so, or null.
[[nodiscard]] interposed* find_interposed(std::string_view symbol) noexcept;

/// The result for a program that searched for a function of the driver and found this one: this
/// library's in its place if it is the driver's, and what was found if another library has it.
/// @param found not null
[[nodiscard]] void* hand_out(interposed& which, void* found) noexcept;

/// The driver's own function. Where no driver is loaded or this one lacks it: that of the first
/// library behind this one, or null.
[[nodiscard]] void* real(interposed& which) noexcept;

/// The same, as what it is, for a function that this library exports under this symbol.
template <class Function>
[[nodiscard]] Function* real_function(interposed& which) noexcept {
    void* const known = which.real.load(std::memory_order_acquire);
    return reinterpret_cast<Function*>(known ? known : real(which));
}

/// Whether the driver is loaded, by any part of the program.
[[nodiscard]] bool driver_is_loaded() noexcept;

} // namespace barmap::memcpy_dropin
