// SPDX-License-Identifier: MIT
#pragma once

/// Searches for symbols behind this library, which replaces dlsym. Thread rule: every function may
/// be called at once.
namespace barmap::memcpy_dropin {

/// The result of dlsym(library, symbol), called from this library. Null where it finds nothing.
[[nodiscard]] void* next_dlsym(void* library, char const* symbol) noexcept;

/// The function that a search in the driver finds: in the library that dlopen("libcuda.so.1")
/// names, or in another one that answers for it. Null where the driver is not loaded or has no such
/// function.
[[nodiscard]] void* find_in_driver(char const* symbol) noexcept;

} // namespace barmap::memcpy_dropin
