// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/arena.hpp>
#include <barmap/gpu/words.cuh>

#include <cstdint>

namespace barmap {

/// By an address of the GPU's.
inline gpu::word* word_at(std::uintptr_t address) noexcept {
    return reinterpret_cast<gpu::word*>(address);
}
/// The first of host memory, or by the CPU's address.
inline gpu::word* first_word(arena::part const& of) noexcept {
    return reinterpret_cast<gpu::word*>(of.data());
}

} // namespace barmap
