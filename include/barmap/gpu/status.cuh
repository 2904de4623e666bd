// SPDX-License-Identifier: MIT
/// How what waits on the GPU ends. Compiles as <barmap/gpu/words.cuh>.
#pragma once

#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

enum class status : int {
    ok,
    full,     ///< no room, and no look was to be repeated
    empty,    ///< nothing there, and no look was to be repeated
    closed,   ///< the other side has closed it, and all messages have been read
    timed_out ///< none of the repeated looks found room, or what was waited for
};

namespace detail {

/// @return how a wait without result has ended
BARMAP_DEVICE status without(status nothing, word more_looks) {
    return more_looks == 0 ? nothing : status::timed_out;
}

/// How many looks there are between two at whether the other side has closed.
constexpr word looks_per_question = 64;

} // namespace detail
} // namespace gpu
} // namespace barmap
