// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace barmap::os {

/// The name that `typed` is most likely a misspelling of; empty if none is near enough: a letter
/// that is missing, wrong, or too many, or two that are exchanged; from six letters on, two such
/// mistakes.
[[nodiscard]] std::string_view nearest(std::string_view typed,
                                       std::span<std::string_view const> names);

} // namespace barmap::os
