// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/types.hpp>
#include <barmap/window.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace barmap::copy {

/// The CPU features that a copy routine needs; core/src/transfer/cpu/cpu.hpp finds those of this CPU.
using cpu_features = std::uint32_t;

/// One way to move bytes, for one instruction set. Plain data; core/src/transfer/cpu/routines.cpp lists
/// them all.
struct copy_routine {
    std::string_view name;
    cpu_features needs;
    unsigned width; ///< bytes that its bulk loop moves per instruction
    void (*store)(void* gpu, void const* host, std::size_t bytes) noexcept;
    /// Not for one aligned word, which read() loads itself.
    void (*load)(void* host, void const* gpu, std::size_t bytes) noexcept;
};

/// Transfers are planned by size class: class c holds the sizes n with bit_width(n) == c.
/// The last class holds everything larger.
inline constexpr std::size_t size_classes = 32;
[[nodiscard]] constexpr std::size_t size_class(std::size_t bytes) noexcept {
    std::size_t const width = static_cast<std::size_t>(std::bit_width(bytes));
    return width < size_classes ? width : size_classes - 1;
}

/// The routine called NAME. @throws error errc::invalid_argument (unknown; lists the names) or
/// errc::unsupported_operation (the CPU or the OS lacks what it needs)
[[nodiscard]] copy_routine const& find_routine(std::string_view name);

/// The routine that BARMAP_COPY names, or null if it is unset or "auto". @throws as find_routine
[[nodiscard]] copy_routine const* routine_forced_by_environment();

/// One routine for every size.
[[nodiscard]] copy_plan plan_of_one(copy_routine const& routine, cache_kind kind) noexcept;

/// The same, kept until the process ends, since windows point at it. Thread-safe.
/// @throws std::bad_alloc
[[nodiscard]] copy_plan const& kept_plan_of_one(copy_routine const& routine, cache_kind kind);

/// The same routines for a mapping of another kind: its fences, and how it posts.
[[nodiscard]] copy_plan plan_for_kind(copy_plan plan, cache_kind kind) noexcept;

} // namespace barmap::copy

namespace barmap {

struct copy_plan {
    barmap_plan_head head;
    std::array<copy::copy_routine const*, copy::size_classes> store;
    std::array<copy::copy_routine const*, copy::size_classes> load;
    void (*post_word)(void* gpu, std::uint64_t word, unsigned bytes) noexcept;
    void (*post_line)(void* gpu, void const* line) noexcept;
    cache_kind kind;
};
static_assert(std::is_standard_layout_v<copy_plan>,
              "the hot path reads its head through the window");

} // namespace barmap
