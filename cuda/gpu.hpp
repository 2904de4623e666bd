// SPDX-License-Identifier: MIT
#pragma once

#include "nvidia/cuda.hpp"

#include <cstdint>
#include <string>

namespace barmap::cuda {

/// Where a GPU is on the PCI bus.
struct pci_location {
    std::uint32_t domain = 0, bus = 0, slot = 0;
    [[nodiscard]] std::string text() const; ///< "0000:65:00.0"
};

/// Which GPU, in every name that a backend or an engine may know it by.
struct gpu {
    int ordinal = 0;
    CUdevice handle = 0;
    std::string name;
    CUuuid uuid{};
    pci_location pci;
    std::string pci_address; ///< in words
    int driver_version = 0;
    bool simulated = false;
    bool without_cuda = false; ///< this process has only opened memory that others shared
    bool mig = false;      ///< a MIG slice, not a whole GPU
    bool coherent = false; ///< the CPU caches GPU memory coherently (integrated or C2C)
};

} // namespace barmap::cuda
