// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/gpu/kernel_queue.cuh>

/// Random lists of pieces, every byte of which can be checked without a table; for kernels and for
/// the CPU. What a list copies follows from a seed, the queue, and the list's number.
///
/// A list's pieces lie in slots of a region, one in a slot, at random places of it; the rest of the
/// region is poison. Where they come from is a pool whose bytes follow from their offset in it.
namespace barmap::gpu_test::soak {

using gpu::word;

constexpr unsigned most_pieces = 8192;    ///< of a list
constexpr unsigned pool_bytes = 1u << 28; ///< of each of the two pools
constexpr unsigned poison = 0xa5a5a5a5;   ///< four bytes of it
constexpr unsigned threads_of_block = 512;

// Slots come in groups: one large slot, some of medium size, many small ones.
constexpr unsigned large = 65536, medium = 4096, small = 256;
constexpr unsigned slots_of_group = 128, mediums = 15;
constexpr unsigned smalls_at = large + mediums * medium;
constexpr unsigned group_bytes = smalls_at + (slots_of_group - 1 - mediums) * small;
constexpr unsigned region_bytes = most_pieces / slots_of_group * group_bytes;
constexpr unsigned regions_of_queue = 2; ///< so that a list may be in flight while one is checked

/// The finaliser of splitmix64.
BARMAP_DEVICE word mixed(word value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}
/// A random number for each number of a seed.
BARMAP_DEVICE word random_of(word seed, unsigned number) {
    return mixed(seed + (number + word{1}) * 0x9e3779b97f4a7c15u);
}
/// The same in 32 bits, for what is needed often: different values have different results.
BARMAP_DEVICE unsigned mixed_32(unsigned value) {
    value = (value ^ value >> 16) * 0x7feb352du;
    value = (value ^ value >> 15) * 0x846ca68bu;
    return value ^ value >> 16;
}

/// Four bytes of a pool, from offset 4 * `number` on.
BARMAP_DEVICE unsigned pattern_word(unsigned salt, unsigned number) {
    return mixed_32(number ^ salt);
}
constexpr unsigned salt_of_gpu = 0x3c6ef372, salt_of_host = 0xdaa66d2b; ///< of the pools

/// Where all lists copy from and to: addresses of both pools, and of `regions_of_queue` regions of
/// each queue in GPU memory, and as many in pinned host memory. All aligned to 16 bytes.
struct memory {
    word from_gpu, from_host, to_gpu, to_host;
};

struct list {
    word seed;
    word from;                        ///< the pool
    word to;                          ///< the region
    unsigned salt;                    ///< of the pool
    unsigned queue, number;           ///< of this list
    unsigned count;                   ///< of pieces
    unsigned submissions;             ///< in which the pieces are submitted
    unsigned slots;                   ///< of the region that are used at most: a power of two
    unsigned factor, offset, inverse; ///< piece i is in slot (i * factor + offset) % slots
    bool is_to_host;
    bool is_for_cpu; ///< a thread of the CPU checks it, told by a signal
    bool overlaps;   ///< it is submitted before the list before it is done
    /// So many lists that copy nothing are submitted behind it, if it overlaps. They fill the ring
    /// of commands or that of tickets, so that one has to wait until this list is done.
    unsigned empty_lists, empty_pieces;
};

/// The odd number whose product with this odd number is 1, modulo 2^32.
BARMAP_DEVICE unsigned inverse_of(unsigned odd) {
    unsigned result = odd; // three bits of it are right, and twice as many after each step
    for (int i = 0; i < 4; ++i)
        result *= 2 - odd * result;
    return result;
}

BARMAP_DEVICE list list_of(memory const& where, word seed, unsigned queue, unsigned number) {
    word const random = random_of(seed ^ queue, number), more = mixed(random);
    list result{};
    result.seed = mixed(more);
    result.queue = queue;
    result.number = number;
    unsigned const kind = random % 4;
    unsigned const most = kind == 0 ? 64 : kind == 3 ? most_pieces : 1024;
    result.count = 1 + static_cast<unsigned>((random >> 16 & 0xffff) * most >> 16);
    if ((random >> 8) % 8 == 0) // ends with a segment of warp_submitter more often
        result.count = (result.count + 31) / 32 * 32;
    result.submissions = 1 + (random >> 12) % 4;
    if (result.submissions == 1 && result.count > gpu::kernel_queue::most_pieces)
        result.submissions = 2;
    result.slots = slots_of_group;
    while (result.slots < result.count)
        result.slots *= 2;
    result.factor = static_cast<unsigned>(random >> 32) | 1;
    result.inverse = inverse_of(result.factor);
    result.offset = static_cast<unsigned>(more);
    result.overlaps = (more >> 32) % 2 != 0;
    unsigned const fill = (more >> 37) % 32;
    result.empty_lists = fill == 0 ? 16 : fill == 1 ? 600 : 0;
    result.empty_pieces = fill == 0 ? gpu::kernel_queue::most_pieces : 0;
    unsigned const way = (more >> 33) % 16; // 10 of 16 stay in the GPU
    bool const is_from_host = way == 10 || way == 11 || way == 12;
    result.is_to_host = way >= 12;
    result.is_for_cpu = way == 15;
    result.from = is_from_host ? where.from_host : where.from_gpu;
    result.salt = is_from_host ? salt_of_host : salt_of_gpu;
    result.to = (result.is_to_host ? where.to_host : where.to_gpu) +
                (word{queue} * regions_of_queue + number % regions_of_queue) * region_bytes;
    return result;
}

/// A list without pieces, for a check that a region holds nothing but poison.
BARMAP_DEVICE list nothing_in(word region) {
    list result{};
    result.to = region;
    result.slots = most_pieces;
    return result;
}

BARMAP_DEVICE unsigned bytes_of_slots(list const& of) {
    return of.slots / slots_of_group * group_bytes;
}
/// The slot that has this byte of the region.
BARMAP_DEVICE unsigned slot_at(unsigned at) {
    unsigned const first = at / group_bytes * slots_of_group, rest = at % group_bytes;
    if (rest < large)
        return first;
    if (rest < smalls_at)
        return first + 1 + (rest - large) / medium;
    return first + 1 + mediums + (rest - smalls_at) / small;
}

/// A piece's first byte in the region, and in the pool.
struct place {
    unsigned at, from, bytes;
};

/// The piece in a slot; of no bytes if there is none.
BARMAP_DEVICE place place_in(list const& of, unsigned slot) {
    unsigned const group = slot / slots_of_group * group_bytes, index = slot % slots_of_group;
    unsigned const begin = index == 0         ? group
                           : index <= mediums ? group + large + (index - 1) * medium
                                              : group + smalls_at + (index - 1 - mediums) * small;
    unsigned const size = index == 0 ? large : index <= mediums ? medium : small;
    word const random = random_of(of.seed, slot);
    unsigned const low = static_cast<unsigned>(random), kind = mixed_32(low);
    bool const is_there = ((slot - of.offset) * of.inverse) % of.slots < of.count;
    bool const is_aligned = kind % 4 == 1; // for which an engine may have another way
    unsigned const step = is_aligned ? 16 : 1;
    unsigned bytes = 1 + low % size;
    bytes = (bytes + step - 1) / step * step;
    unsigned const room = size - bytes + 1; // places; the slot's first and last byte may be used
    unsigned const in_slot = (low >> 16) * room >> 16;
    // Behind the pool's first bytes, so that the 16 bytes that the piece begins in come from it.
    word const places = pool_bytes - 16 - large;
    unsigned const from = 16 + static_cast<unsigned>((random >> 32) * places >> 32);
    return {begin + in_slot / step * step, from / step * step,
            is_there && kind % 64 != 0 ? bytes : 0};
}

/// Piece `i` < count of a list.
BARMAP_DEVICE gpu::copy_piece piece_of(list const& of, unsigned i) {
    place const found = place_in(of, (i * of.factor + of.offset) % of.slots);
    return {of.to + found.at, of.from + found.from, found.bytes};
}

/// What was found in regions.
struct report {
    word pieces, bytes;                     ///< that were checked
    word wrong;                             ///< bytes of pieces that are not those of the pool
    word stray;                             ///< bytes around pieces that are not poison
    word is_first;                          ///< 1: what follows is the first difference
    word queue, number, at, seen, expected; ///< which list, where in its region, of four bytes
    word status;                            ///< of a call that has failed
};

/// The bytes of a word that a piece has, as a mask. @param at the word's place in the region
BARMAP_DEVICE unsigned mask_of(place const& piece, unsigned at) {
    auto const below = [at](unsigned end) { // the bytes before that place
        unsigned const bytes = end > at ? end - at : 0;
        return bytes >= 4 ? ~0u : (1u << bytes * 8) - 1;
    };
    return below(piece.at + piece.bytes) & ~below(piece.at);
}
/// How many bytes of a word are not 0.
BARMAP_DEVICE unsigned bytes_in(unsigned value) {
    value |= value >> 4;
    value |= value >> 2;
    value |= value >> 1;
    return (value & 0x01010101u) * 0x01010101u >> 24;
}

/// Notes a word that differs from what is expected, if it does. @param mask the piece's bytes
BARMAP_DEVICE void note(list const& of, unsigned at, unsigned seen, unsigned expected,
                        unsigned mask, report& found) {
    unsigned const difference = seen ^ expected;
    found.wrong += bytes_in(difference & mask);
    found.stray += bytes_in(difference & ~mask);
    if (difference == 0 || found.is_first != 0)
        return;
    found.is_first = 1;
    found.queue = of.queue;
    found.number = of.number;
    found.at = at;
    found.seen = seen;
    found.expected = expected;
}

struct four {
    unsigned words[4];
};

/// One load of any kernel, which may find the bytes in a cache. @pre `from` is aligned to 16 bytes
BARMAP_DEVICE four load_four(unsigned const* from) {
    four result;
#if defined(BARMAP_ON_CUDA)
    asm volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(result.words[0]), "=r"(result.words[1]), "=r"(result.words[2]),
                   "=r"(result.words[3])
                 : "l"(from)
                 : "memory");
#else
    for (unsigned i = 0; i < 4; ++i)
        result.words[i] = from[i];
#endif
    return result;
}

/// Compares one thread's share of the region of a list that is done with what it has to hold, and
/// makes all of it poison again.
BARMAP_DEVICE void check(list const& of, unsigned thread, unsigned threads, report& found) {
    constexpr unsigned vector = sizeof(four);
    for (unsigned at = thread * vector; at < bytes_of_slots(of); at += threads * vector) {
        auto* const there = reinterpret_cast<unsigned*>(of.to + at);
        four const seen = load_four(there);
        place const piece = place_in(of, slot_at(at));
        unsigned const from = piece.from + at - piece.at; // what is no byte of the piece is masked
        four expected, masks;
        unsigned low = pattern_word(of.salt, from / 4), is_wrong = 0, is_touched = 0;
        BARMAP_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
            unsigned const high = pattern_word(of.salt, from / 4 + i + 1);
            unsigned const copied =
                static_cast<unsigned>((static_cast<word>(high) << 32 | low) >> from % 4 * 8);
            low = high;
            unsigned const mask = mask_of(piece, at + 4 * i);
            found.bytes += bytes_in(mask);
            masks.words[i] = mask;
            expected.words[i] = (copied & mask) | (poison & ~mask);
            is_wrong |= seen.words[i] ^ expected.words[i];
            is_touched |= seen.words[i] ^ poison;
        }
        if (is_touched != 0)
            gpu::detail::store_four(there, poison, poison, poison, poison);
        if (is_wrong != 0)
            BARMAP_UNROLL
        for (unsigned i = 0; i < 4; ++i)
            note(of, at + 4 * i, seen.words[i], expected.words[i], masks.words[i], found);
    }
}

/// A word of its own line of host memory.
struct alignas(64) lone_word {
    unsigned value;
};

/// What the kernel of the soak test gets, each block of which has a queue.
struct task {
    memory where;
    word seed;
    gpu::kernel_queue const* queues;
    lone_word* signals;       ///< of each queue: the number + 1 of a list for the CPU that is done
    lone_word const* answers; ///< and of one that the CPU has checked
    report* found;
    unsigned first, rounds; ///< numbers of the lists
    int scope;              ///< a gpu::fence_scope
};

} // namespace barmap::gpu_test::soak
