// SPDX-License-Identifier: MIT
#include "system/random_bytes.hpp"

#include "system/calls.hpp"

#include <barmap/error.hpp>

#include <cerrno>

namespace barmap::os {

void fill_with_random_bytes(std::span<std::byte> bytes) {
    // Up to 256 bytes come at once and without interruption (getrandom(2)), once the system has
    // gathered entropy, for which the call waits.
    errno = 0;
    if (current().getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()))
        return;
    int const code = errno ? errno : EIO;
    throw error({code, std::system_category()}, "get random bytes from the system", "",
                "allow getrandom(2) in this sandbox: without it no backend can be "
                "self-tested");
}

} // namespace barmap::os
