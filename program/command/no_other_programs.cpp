// SPDX-License-Identifier: MIT
// Where the program is built alone.
#include "command/other_programs.hpp"

namespace barmap::tool {

std::span<other_program const> other_programs() {
    return {};
}

} // namespace barmap::tool
