// SPDX-License-Identifier: MIT
#include "os/random.hpp"

#include <sys/random.h>

namespace barmap::os {

void fill_with_random_bytes(std::span<std::byte> bytes) noexcept {
    // Up to 256 bytes come at once and without interruption (getrandom(2)), once the system has
    // gathered entropy, for which the call waits.
    (void)!getrandom(bytes.data(), bytes.size(), 0);
}

} // namespace barmap::os
