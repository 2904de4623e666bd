// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/types.hpp"

#include <cstdint>
#include <string>

namespace barmap::cuda {

/// Which GPU, in every name that a backend or an engine may know it by.
struct gpu {
    int ordinal = 0;
    CUdevice handle = 0;
    std::string name;
    CUuuid uuid{};
    std::uint32_t pci_domain = 0, pci_bus = 0, pci_slot = 0;
    std::string pci_address; ///< "0000:65:00.0"
    int driver_version = 0;
    bool simulated = false;
    bool mig = false;      ///< a MIG slice, not a whole GPU
    bool coherent = false; ///< the CPU caches GPU memory coherently (integrated or C2C)
};

} // namespace barmap::cuda
