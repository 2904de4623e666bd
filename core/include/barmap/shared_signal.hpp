// SPDX-License-Identifier: MIT
/// Shares rings and counters with other processes, by one descriptor for each.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/export.hpp>

#include <cstdint>
#include <initializer_list>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {
namespace detail {

enum class signal_kind : std::uint32_t {
    ring_to_gpu = 1,
    ring_to_cpu,
    counter_to_gpu,
    counter_to_cpu
};

/// What a descriptor describes: a ring or a counter.
struct BARMAP_API shared_signal {
    signal_kind kind;
    std::uint64_t message_bytes = 0, slots = 0; ///< for a ring
    std::uint64_t first = 0;                    ///< for a counter to the CPU

    /// @param parts all of its parts, in the order in which its constructor takes them
    /// @return a descriptor, which the caller closes. @throws error as pin::share()
    [[nodiscard]] int share(std::initializer_list<arena::part const*> parts) const;
};

/// What opening a descriptor returns: an arena from which a constructor takes the same parts.
struct BARMAP_API opened_signal {
    shared_signal is;
    arena memory;

    /// @throws error errc::invalid_argument for a descriptor of another kind; as
    ///         barmap::open_shared()
    [[nodiscard]] static opened_signal open(int descriptor, signal_kind wanted);
    /// The same for a ring. @throws error errc::invalid_argument also if its messages have another
    /// size
    [[nodiscard]] static opened_signal open_ring(int descriptor, signal_kind wanted,
                                                 std::uint64_t message_bytes);
};

} // namespace detail
} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
