// SPDX-License-Identifier: MIT
#pragma once

#include "engine/transfer.hpp"

namespace barmap::engine {

/// Moves random values both ways, and looks with the driver whether they are where they should be.
/// @throws error errc::backend_broken, or what failed
void self_test(worker& engine, gpu const& which);

} // namespace barmap::engine
