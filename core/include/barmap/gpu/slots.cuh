// SPDX-License-Identifier: MIT
/// The layout of messages in the slots of rings and calls. Compiles as <barmap/gpu/words.cuh>.
///
/// To the GPU, a slot is one or more lines of 64 bytes. A message of up to 32 bytes lies in pairs
/// of a message word and its commit word, so that a reader gets both with the same load. For a
/// larger message, each line holds 56 bytes and a commit word, which is read first: this costs a
/// second trip to memory, but a line holds nearly twice as much. Pairs and lines may arrive in any
/// order.
///
/// To the CPU, a slot is one pair for up to 8 bytes, and otherwise a multiple of 64 bytes whose
/// last word commits.
///
/// Commit words hold a number that no earlier message of this slot had, so they identify the
/// message whatever its bytes are.
#pragma once

#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

/// Sizes in the layout of messages to the GPU.
struct layout_to_gpu {
    static constexpr unsigned line_bytes = 64, line_words = 8;
    static constexpr unsigned line_payload =
        7; ///< words of a message in a line with one commit word
    static constexpr unsigned most_in_pairs = 4; ///< words
};

/// Layout of a slot to the GPU for messages of a type.
template <class T>
struct slot_to_gpu {
    static constexpr unsigned payload_words = static_cast<unsigned>((sizeof(T) + 7) / 8);
    static constexpr bool is_in_pairs = payload_words <= layout_to_gpu::most_in_pairs;
    static constexpr unsigned lines =
        is_in_pairs
            ? 1
            : (payload_words + layout_to_gpu::line_payload - 1) / layout_to_gpu::line_payload;
    static constexpr unsigned words = lines * layout_to_gpu::line_words, bytes = words * 8;
    static constexpr unsigned commits = is_in_pairs ? payload_words : lines;
};

/// Layout of a slot to the CPU for messages of a type.
template <class T>
struct slot_to_cpu {
    static constexpr bool is_pair = sizeof(T) <= 8; ///< one store of 16 bytes
    static constexpr unsigned payload_words = static_cast<unsigned>((sizeof(T) + 7) / 8);
    /// 16, or a multiple of 64. The last word is the commit word.
    static constexpr unsigned bytes = is_pair ? 16 : (payload_words * 8 + 8 + 63) / 64 * 64;
    static constexpr unsigned words = bytes / 8;
};

namespace detail {

/// Where the words of a message of that many words lie in its slot to the GPU.
BARMAP_DEVICE bool is_in_pairs(word payload_words) {
    return payload_words <= layout_to_gpu::most_in_pairs;
}
BARMAP_DEVICE word lines_of(word payload_words) {
    return is_in_pairs(payload_words)
               ? 1
               : (payload_words + layout_to_gpu::line_payload - 1) / layout_to_gpu::line_payload;
}
BARMAP_DEVICE word place_of_word(word index, word payload_words) {
    return is_in_pairs(payload_words)
               ? index * 2
               : index / layout_to_gpu::line_payload * layout_to_gpu::line_words +
                     index % layout_to_gpu::line_payload;
}
BARMAP_DEVICE word count_of_commits(word payload_words) {
    return is_in_pairs(payload_words) ? payload_words : lines_of(payload_words);
}
BARMAP_DEVICE word place_of_commit(word index, word payload_words) {
    return is_in_pairs(payload_words)
               ? index * 2 + 1
               : index * layout_to_gpu::line_words + layout_to_gpu::line_payload;
}

/// Whether words that were just loaded all have this value. Compares the last one first: otherwise
/// the compiler would wait for the others before it loads the last one.
template <unsigned Count>
BARMAP_DEVICE bool are_all(word const* found, word value) {
    if (found[Count - 1] != value)
        return false;
    word differences = 0;
    BARMAP_UNROLL
    for (unsigned i = 0; i + 1 < Count; ++i)
        differences |= found[i] ^ value;
    return differences == 0;
}

/// Whether all of a message has arrived. Later loads then see what was published with it.
template <class T>
BARMAP_DEVICE bool has_arrived(word const* slot, word commit) {
    typedef slot_to_gpu<T> slot_type;
    // All loads first, so that they are in flight together. The last one, which acquires, does not
    // wait for the others; the branch on their values does.
    word found[slot_type::commits];
    BARMAP_UNROLL
    for (unsigned i = 0; i + 1 < slot_type::commits; ++i)
        found[i] = load_commit(slot + place_of_commit(i, slot_type::payload_words));
    constexpr unsigned last = slot_type::commits - 1;
    found[last] = load_acquire(slot + place_of_commit(last, slot_type::payload_words));
    return are_all<slot_type::commits>(found, commit);
}

/// Reads a message of more than 32 bytes that has arrived.
template <class T>
BARMAP_DEVICE void read_lines(word const* slot, word* to) {
    typedef slot_to_gpu<T> slot_type;
    BARMAP_UNROLL
    for (unsigned i = 0; i < slot_type::payload_words; ++i) {
        unsigned const in_line = i % layout_to_gpu::line_payload;
        word const* const from = slot + place_of_word(i, slot_type::payload_words);
        if (in_line % 2 != 0)
            continue; // was loaded with the one before
        if (in_line + 1 < layout_to_gpu::line_payload && i + 1 < slot_type::payload_words)
            load_two(from, to[i], to[i + 1]);
        else
            to[i] = load_relaxed(from);
    }
}

/// Reads a slot's message, if all of it has arrived with commit words of this value. Later loads
/// then see what was published with it. A message of more than 32 bytes is never read together with
/// its commit words: on an H200 such reads were torn.
template <class T>
BARMAP_DEVICE bool take_words(word const* slot, word commit, word* to) {
    typedef slot_to_gpu<T> slot_type;
    if (slot_type::is_in_pairs) {
        word found[slot_type::payload_words]; // as in has_arrived()
        BARMAP_UNROLL
        for (unsigned i = 0; i + 1 < slot_type::payload_words; ++i)
            load_pair_relaxed(slot + i * 2, to[i], found[i]);
        constexpr unsigned last = slot_type::payload_words - 1;
        load_pair_acquire(slot + last * 2, to[last], found[last]);
        return are_all<slot_type::payload_words>(found, commit);
    } else {
        if (!has_arrived<T>(slot, commit))
            return false;
        read_lines<T>(slot, to);
        return true;
    }
}
template <class T>
BARMAP_DEVICE bool take_slot(word const* slot, word commit, T& value) {
    word words[slot_to_gpu<T>::payload_words];
    if (!take_words<T>(slot, commit, words))
        return false;
    copy_bytes(&value, words, sizeof value);
    return true;
}

/// Stores a word after a message has been read: the slot may then be overwritten.
template <class T>
BARMAP_DEVICE void store_after_reading(word* to, word value) {
    // The loads of pairs are complete, since their commit words were compared.
#if defined(BARMAP_ON_CUDA)
    if (slot_to_gpu<T>::is_in_pairs) {
        store_relaxed(to, value);
        return;
    }
#endif
    store_release(to, value);
}

/// Writes a message to the CPU and its commit word.
template <class T>
BARMAP_DEVICE void write_slot(word* slot, word commit, T const& value) {
    typedef slot_to_cpu<T> slot_type;
    word words[slot_type::payload_words];
    words[slot_type::payload_words - 1] = 0;
    copy_bytes(words, &value, sizeof value);
    if (slot_type::is_pair) {
        store_pair(slot, words[0], commit);
    } else {
        BARMAP_UNROLL
        for (unsigned i = 0; i < slot_type::payload_words; ++i)
            store_relaxed(slot + i, words[i]);
        store_release(slot + slot_type::words - 1, commit);
    }
}

} // namespace detail
} // namespace gpu
} // namespace barmap
