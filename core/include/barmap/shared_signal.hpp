// SPDX-License-Identifier: MIT
/// Shares rings and counters with other processes, by one descriptor for each.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/error.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {
namespace detail {

/// Makes a descriptor of a ring or a counter, which the caller closes.
/// Contract and errors: barmap_signal_share().
[[nodiscard]] inline int share_signal(barmap_signal const& what,
                                      std::initializer_list<arena::part const*> parts) {
    std::vector<barmap_arena_part const*> handles;
    for (arena::part const* const each : parts)
        handles.push_back(each->c_handle());
    int descriptor = -1;
    check(barmap_signal_share(&what, handles.data(), handles.size(), &descriptor));
    return descriptor;
}

/// An opened descriptor: the signal, and an arena from which a constructor takes the same parts.
struct opened_signal {
    barmap_signal is;
    arena memory;

    /// Opens a descriptor of this kind. Contract and errors: barmap_signal_open_shared().
    [[nodiscard]] static opened_signal open(int descriptor, barmap_signal_kind wanted) {
        barmap_signal is{};
        arena memory(made<barmap_arena>([&](auto out) {
            return barmap_signal_open_shared(descriptor, wanted, &is, out);
        }));
        return {is, memory};
    }
    /// The same for a ring. @throws error errc::invalid_argument also if its messages have another
    /// size
    [[nodiscard]] static opened_signal open_ring(int descriptor, barmap_signal_kind wanted,
                                                 std::uint64_t message_bytes) {
        opened_signal const result = open(descriptor, wanted);
        if (result.is.message_bytes != message_bytes)
            throw error(errc::invalid_argument, "open shared memory", "",
                        "its messages have " + std::to_string(result.is.message_bytes) +
                            " bytes, and those of this type " + std::to_string(message_bytes) +
                            ": use the same type in both processes");
        return result;
    }
};

} // namespace detail
} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
