// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <cstddef>
#include <span>

namespace barmap::backend {

/// Writes random bytes through the mapping and reads them with the driver, then the other way
/// round, at both ends of the memory. @param mapped at least 128 bytes
/// @throws error errc::backend_broken if they differ
void self_test(CUdevice device, CUdeviceptr address, std::span<std::byte> mapped);

} // namespace barmap::backend
