// SPDX-License-Identifier: MIT
// A library of a program, which has its own copy of what is inline.
#include <barmap/barmap.hpp>

extern "C" __attribute__((visibility("default"))) void plugin_throws() {
    (void)barmap::device::open(99);
}

/// Whether its own errors are right.
extern "C" __attribute__((visibility("default"))) int plugin_catches() {
    try {
        plugin_throws();
    } catch (barmap::error const& failure) {
        return failure.code() == barmap::errc::no_device &&
               failure.code() != barmap::errc::out_of_range &&
               failure.code() == std::errc::no_such_device &&
               failure.code().category() == barmap::category();
    }
    return 0;
}
