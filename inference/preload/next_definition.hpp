// SPDX-License-Identifier: MIT
#pragma once

namespace barmap::memcpy_dropin {

/// The function of this name in the first library that was loaded behind this one, be it for all to
/// see or not. Without dlsym(), which this library replaces, and without memory. Null where there
/// is none.
[[nodiscard]] void* next_definition(char const* name) noexcept;

} // namespace barmap::memcpy_dropin
