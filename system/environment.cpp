// SPDX-License-Identifier: MIT
#include "system/environment.hpp"

#include <cstdlib>

namespace barmap::os {

char const* environment(char const* name) noexcept {
    return ::secure_getenv(name);
}

} // namespace barmap::os
