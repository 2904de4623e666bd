// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace barmap::cuda {

/// Lets a GPU's primary context reach all memory of another GPU's, from now on. Both in CUDA's
/// count.
/// @param advice what a user can do where it cannot
/// @throws error errc::wrong_device if it cannot
void enable_peer_access(int gpu, int owner, std::string advice);

} // namespace barmap::cuda
