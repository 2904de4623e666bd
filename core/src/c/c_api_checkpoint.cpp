// SPDX-License-Identifier: MIT
#include <barmap/checkpoint.h>
#include <barmap/checkpoint.hpp>
#include <barmap/waits.hpp>

#include "c/c_boundary.hpp"

extern "C" {

int barmap_checkpoint_prepare(uint64_t at_most_ns) {
    return barmap::c::attempt(
        [&] { barmap::checkpoint_prepare(barmap::detail::wait_of_ns(at_most_ns)); });
}

int barmap_checkpoint_restore(void) {
    return barmap::c::attempt([] { barmap::checkpoint_restore(); });
}

} // extern "C"
