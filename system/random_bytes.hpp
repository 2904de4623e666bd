// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace barmap::os {

/// Fills the bytes, at most 256 of them, with random ones of the system. @throws error with errno
void fill_with_random_bytes(std::span<std::byte> bytes);

} // namespace barmap::os
