// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

/// The text of vkgdr_last_error(), one for each thread. Thread rule: free.
namespace barmap::vkgdr::last_error {

void clear() noexcept;

/// Keeps the text, cut where it is longer than there is room for.
void set(std::string_view text) noexcept;

/// A copy for the caller to free(); null if nothing is set, or there is no memory.
[[nodiscard]] char* copy() noexcept;

} // namespace barmap::vkgdr::last_error
