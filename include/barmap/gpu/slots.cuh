// SPDX-License-Identifier: MIT
/// How messages lie in the slots of rings, mailboxes and calls. Compiles as <barmap/gpu/words.cuh>.
///
/// To the GPU, a slot is one or more lines of 64 bytes. A message of up to 32 bytes lies in pairs of
/// words, each with a commit word of its own, so that a reader gets message and commit words by the
/// same loads. Of a larger one, each line holds 56 bytes and a commit word, which is read first: a
/// second trip to memory, but nearly twice as much in a line. Either way pairs and lines may arrive in
/// any order.
///
/// To the CPU, a slot is one pair for up to 8 bytes, and otherwise a multiple of 64 bytes whose last
/// word commits.
///
/// Commit words say which message is there, by a number that no message before it in this slot had,
/// whatever the bytes of the message are.
#pragma once

#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

/// Of a message to the GPU of a number of bytes.
struct layout_to_gpu {
    static constexpr unsigned line_bytes = 64, line_words = 8;
    static constexpr unsigned line_payload = 7;  ///< words of a message in a line with one commit word
    static constexpr unsigned most_in_pairs = 4; ///< words
};

/// Of a message to the GPU of a type.
template <class T>
struct slot_to_gpu {
    static constexpr unsigned payload_words = static_cast<unsigned>((sizeof(T) + 7) / 8);
    static constexpr bool is_in_pairs = payload_words <= layout_to_gpu::most_in_pairs;
    static constexpr unsigned lines = is_in_pairs
        ? 1
        : (payload_words + layout_to_gpu::line_payload - 1) / layout_to_gpu::line_payload;
    static constexpr unsigned words = lines * layout_to_gpu::line_words, bytes = words * 8;
    static constexpr unsigned commits = is_in_pairs ? payload_words : lines;
};

/// Of a message to the CPU.
template <class T>
struct slot_to_cpu {
    static constexpr bool is_pair = sizeof(T) <= 8; ///< one store of 16 bytes
    static constexpr unsigned payload_words = static_cast<unsigned>((sizeof(T) + 7) / 8);
    /// 16, or a multiple of 64. The last word is the commit word.
    static constexpr unsigned bytes = is_pair ? 16 : (payload_words * 8 + 8 + 63) / 64 * 64;
    static constexpr unsigned words = bytes / 8;
};

namespace detail {

/// Where words of a message of so many words lie in its slot to the GPU.
BARMAP_DEVICE bool is_in_pairs(word payload_words) {
    return payload_words <= layout_to_gpu::most_in_pairs;
}
BARMAP_DEVICE word lines_of(word payload_words) {
    return is_in_pairs(payload_words)
        ? 1
        : (payload_words + layout_to_gpu::line_payload - 1) / layout_to_gpu::line_payload;
}
BARMAP_DEVICE word place_of_word(word index, word payload_words) {
    return is_in_pairs(payload_words) ? index * 2
                                      : index / layout_to_gpu::line_payload *
                layout_to_gpu::line_words + index % layout_to_gpu::line_payload;
}
BARMAP_DEVICE word count_of_commits(word payload_words) {
    return is_in_pairs(payload_words) ? payload_words : lines_of(payload_words);
}
BARMAP_DEVICE word place_of_commit(word index, word payload_words) {
    return is_in_pairs(payload_words)
        ? index * 2 + 1
        : index * layout_to_gpu::line_words + layout_to_gpu::line_payload;
}

/// Whether a message has arrived, all of it.
template <class T>
BARMAP_DEVICE bool has_arrived(word const* slot, word commit) {
    BARMAP_UNROLL
    for (unsigned i = 0; i < slot_to_gpu<T>::commits; ++i)
        if (load_acquire(slot + place_of_commit(i, slot_to_gpu<T>::payload_words)) != commit)
            return false;
    return true;
}

/// Reads a message that has arrived.
template <class T>
BARMAP_DEVICE void read_words(word const* slot, word* to) {
    BARMAP_UNROLL
    for (unsigned i = 0; i < slot_to_gpu<T>::payload_words; ++i)
        to[i] = load_relaxed(slot + place_of_word(i, slot_to_gpu<T>::payload_words));
}

/// Reads a slot's message, if all of it has arrived with commit words of this value. What was
/// published with it is seen by later loads. A larger message is never read together with its commit
/// words, which was seen to tear on an H200.
template <class T>
BARMAP_DEVICE bool take_words(word const* slot, word commit, word* to) {
    typedef slot_to_gpu<T> slot_type;
    if (slot_type::is_in_pairs) {
        word differences = 0;
        BARMAP_UNROLL
        for (unsigned i = 0; i < slot_type::payload_words; ++i) {
            // The last load is to acquire, and waits for none of the others.
            word found;
            if (i + 1 < slot_type::payload_words)
                load_pair_relaxed(slot + i * 2, to[i], found);
            else
                load_pair_acquire(slot + i * 2, to[i], found);
            differences |= found ^ commit;
        }
        return differences == 0;
    }
    if (!has_arrived<T>(slot, commit))
        return false;
    read_words<T>(slot, to);
    return true;
}
template <class T>
BARMAP_DEVICE bool take_slot(word const* slot, word commit, T& value) {
    word words[slot_to_gpu<T>::payload_words];
    if (!take_words<T>(slot, commit, words))
        return false;
    copy_bytes(&value, words, sizeof value);
    return true;
}

/// One of the commit words.
template <class T>
BARMAP_DEVICE word const* a_commit(word const* slot) {
    return slot + place_of_commit(0, slot_to_gpu<T>::payload_words);
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
        return;
    }
    BARMAP_UNROLL
    for (unsigned i = 0; i < slot_type::payload_words; ++i)
        store_relaxed(slot + i, words[i]);
    store_release(slot + slot_type::words - 1, commit);
}

} // namespace detail
} // namespace gpu
} // namespace barmap
