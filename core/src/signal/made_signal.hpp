// SPDX-License-Identifier: MIT
/// Rings and counters of the C interface, which hold those of C++.
#pragma once

#include "base/c_boundary.hpp"

#include <bit>

namespace barmap::signal {

/// Makes something, and fills in what kernels take of it, as C has that.
/// @param what the member that has it
template <class Out, class Handle, class Member, class Make>
int made(Out** out, Handle* handle, char const* operation, Member what, Make body) noexcept {
    int const result = c::make(out, operation, body);
    if (result == BARMAP_OK && handle)
        *handle = std::bit_cast<Handle>(((*out)->*what).handle());
    return result;
}

/// Makes a descriptor of a ring or a counter.
/// @param what the member that has it
template <class Handle, class Member>
int share(Handle* handle, Member what, int* descriptor) noexcept {
    static constexpr char operation[] = "share a ring or a counter with another process";
    return c::attempt([&] {
        c::expect(descriptor, operation, "pass a pointer for the descriptor, not NULL") = -1;
        *descriptor = (c::expect(handle, operation, "create one first, not NULL").*what).share();
    });
}

} // namespace barmap::signal
