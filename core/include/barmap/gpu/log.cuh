// SPDX-License-Identifier: MIT
/// A log of running GPU code: the GPU's side. <barmap/log.hpp> makes it and reads it, and the rules
/// are in share/doc/barmap/log.md.
///
///     __global__ void work(barmap::gpu::log_ring to) {
///         barmap::gpu::log(to, before_the_wait, blockIdx.x, step);
///         ...
///     }
///
/// The struct is plain and is passed to kernels by value. Compiles as <barmap/gpu/words.cuh>.
#pragma once

#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

/// The addresses of a log, which kernels take by value.
struct log_ring {
    word* records; ///< host memory, 4 words each
    word* next;    ///< GPU memory: the number of the next record
    word mask;     ///< number of slots less 1, a power of two less 1
    word shift;    ///< the number of slots is 1 << shift
};

/// The layout of a record in its slot: two pairs of words. The upper half of each pair's second
/// word is the round of the ring, counted from 1, so that a reader knows to which record each pair
/// belongs.
struct log_record_words {
    static constexpr unsigned time = 0, id = 1, ab = 2, c = 3, words = 4, bytes = 32;
};

/// Writes a record. Any GPU thread may call it at any time. It never waits: if the ring is full,
/// the record replaces the oldest one, and readers count the records that they have lost. It orders
/// no other memory accesses.
/// @param id names this place of the program
/// @param a, b, c any numbers, for instance the block and the block that it waits for
BARMAP_DEVICE void log(log_ring const& to, unsigned id, unsigned a = 0, unsigned b = 0,
                       unsigned c = 0) {
    word const time = nanoseconds_now();
    word const number = add_relaxed(to.next, 1);
    word const round = ((number >> to.shift) + 1) << 32;
    word* const slot = to.records + (number & to.mask) * log_record_words::words;
    store_as_one(slot + log_record_words::time, time, round | id);
    store_as_one(slot + log_record_words::ab, static_cast<word>(b) << 32 | a, round | c);
}

} // namespace gpu
} // namespace barmap
