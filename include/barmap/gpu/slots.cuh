// SPDX-License-Identifier: MIT
/// How messages lie in the slots of rings, mailboxes and calls. Compiles as <barmap/gpu/words.cuh>.
#pragma once

#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

/// Of a message to the GPU. Its commit words say which message is there, by a number that no
/// message before it in this slot had, whatever the bytes of the message are.
template <class T>
struct slot_to_gpu {
    /// Each line of 64 bytes has a commit word of its own behind 56 bytes of the message, so that
    /// lines may arrive in any order.
    static constexpr unsigned line_bytes = 64, line_words = 8, payload_words = 7;
    static constexpr unsigned lines =
        static_cast<unsigned>((sizeof(T) + payload_words * 8 - 1) / (payload_words * 8));
    static constexpr unsigned bytes = lines * line_bytes, words = bytes / 8;
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

/// Whether all commit words of a slot have this value. What was published with it is seen by later
/// loads.
template <class T>
BARMAP_DEVICE bool has_arrived(word const* slot, word commit) {
    typedef slot_to_gpu<T> slot_type;
    for (unsigned line = 0; line < slot_type::lines; ++line)
        if (load_acquire(slot + line * slot_type::line_words + slot_type::payload_words) != commit)
            return false;
    return true;
}

/// Reads a message that has arrived: after its commit words, and never together with them, which was
/// seen to tear messages on an H200.
template <class T>
BARMAP_DEVICE void read_words(word const* slot, word* to) {
    typedef slot_to_gpu<T> slot_type;
    for (unsigned line = 0; line < slot_type::lines; ++line)
        for (unsigned i = 0; i < slot_type::payload_words; ++i)
            to[line * slot_type::payload_words + i] =
                load_relaxed(slot + line * slot_type::line_words + i);
}
template <class T>
BARMAP_DEVICE void read_slot(word const* slot, T& value) {
    word words[slot_to_gpu<T>::lines * slot_to_gpu<T>::payload_words];
    read_words<T>(slot, words);
    copy_bytes(&value, words, sizeof value);
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
    for (unsigned i = 0; i < slot_type::payload_words; ++i)
        store_relaxed(slot + i, words[i]);
    store_release(slot + slot_type::words - 1, commit);
}

} // namespace detail
} // namespace gpu
} // namespace barmap
