// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/gpu/log.cuh>
#include <barmap/log.hpp>

#include <cstdint>

namespace barmap {

/// The state of a record in a slot of a log: complete; missing, as a whole or in part; or replaced
/// by a newer one, which may still be arriving.
enum class slot_state { whole, not_yet, gone };

/// How many rounds one half of a slot is ahead of a round, by its second word.
inline std::int32_t rounds_ahead(gpu::word second_word, std::uint32_t round) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(second_word >> 32) - round);
}

/// Reads a record, if the slot has the one of this round. `gone` also if another record, maybe a
/// late one, has replaced it meanwhile. @param to all but the number
inline slot_state read_slot(gpu::word const* slot, std::uint32_t round, log_record& to) noexcept {
    using words = gpu::log_record_words;
    gpu::word const id = gpu::load_acquire(slot + words::id);
    gpu::word const c = gpu::load_acquire(slot + words::c);
    if (rounds_ahead(id, round) > 0 || rounds_ahead(c, round) > 0)
        return slot_state::gone; // it needs both halves
    if (rounds_ahead(id, round) < 0 || rounds_ahead(c, round) < 0)
        return slot_state::not_yet;
    to.time = gpu::load_acquire(slot + words::time);
    gpu::word const ab = gpu::load_acquire(slot + words::ab);
    to.id = static_cast<std::uint32_t>(id);
    to.a = static_cast<std::uint32_t>(ab);
    to.b = static_cast<std::uint32_t>(ab >> 32);
    to.c = static_cast<std::uint32_t>(c);
    // Each half is stored at once: a half that has not changed was there in between.
    bool const is_whole =
        gpu::load_acquire(slot + words::id) == id && gpu::load_acquire(slot + words::c) == c;
    return is_whole ? slot_state::whole : slot_state::gone;
}

} // namespace barmap
