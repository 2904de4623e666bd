// SPDX-License-Identifier: MIT
#include "cuda/gpu.hpp"

#include <array>
#include <cstdio>

namespace barmap::cuda {

std::string pci_location::text() const {
    std::array<char, 32> result{};
    std::snprintf(result.data(), result.size(), "%04x:%02x:%02x.0", domain, bus, slot);
    return result.data();
}

} // namespace barmap::cuda
