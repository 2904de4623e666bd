// SPDX-License-Identifier: MIT
#pragma once

#include "map/scratch.hpp"

namespace barmap::backend {

/// Writes random bytes through the mapping and reads them with the driver, then the other way
/// round, at both ends of the block. @throws error errc::backend_broken if they differ
void self_test(scratch const& memory);

} // namespace barmap::backend
