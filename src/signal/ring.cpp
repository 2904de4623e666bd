// SPDX-License-Identifier: MIT
#include <barmap/ring.hpp>

#include <barmap/error.hpp>

#include <bit>
#include <string>

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

void detail::expect_slots(std::size_t slots) {
    constexpr std::size_t most = std::size_t{1} << 32;
    if (!std::has_single_bit(slots) || slots > most)
        throw error(errc::invalid_argument,
                    "make a ring of " + std::to_string(slots) + " slots", "",
                    "give a power of two, up to 2^32");
}

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
