// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// Moves one aligned word to or from a mapping, if that is still there at that very moment:
/// a restartable sequence (rseq(2)) of a comparison and one access. Whoever unmaps voids the number
/// that is compared, and then restarts all threads that are between the two (membarrier(2)). So a
/// word is safe from being unmapped without a single store of its own, which matters: two stores
/// around a store to write-combining memory and its fence cost 15 to 40 ns of 140 (Sapphire
/// Rapids). For memory whose pages are all there only: a thread that waits for a page is not sent
/// back, and finds the mapping gone.
namespace barmap::gdrapi {

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

namespace detail {

/// Where this thread's struct rseq lies, from the thread pointer: what glibc registered (2.35).
extern std::ptrdiff_t rseq_offset;

// The descriptor says where the sequence starts, how long it is, and where to go on if it is
// interrupted. rseq_cs stays set afterwards: the kernel looks at it only when it interrupts the
// thread, and clears it then, so that the next call finds it set and stores nothing. Looking
// whether it is set lies inside the sequence, or an interruption just behind the look would clear
// it unseen. The last instruction is the access; after it nothing can send the thread back.
#define BARMAP_RESTARTABLE(access)                                                                 \
    ".pushsection __rseq_cs, \"aw\"\n"                                                             \
    ".balign 32\n"                                                                                 \
    "9:\n"                                                                                         \
    ".long 0, 0\n"                                                                                 \
    ".quad 1f, 2f - 1f, 4f\n"                                                                      \
    ".popsection\n"                                                                                \
    ".pushsection __rseq_failure, \"ax\"\n"                                                        \
    ".byte 0x0f, 0xb9, 0x3d\n" /* ud1, so that the signature is no way in */                       \
    ".long 0x53053053\n"       /* RSEQ_SIG of glibc */                                             \
    "4:\n"                                                                                         \
    "jmp 3f\n"                                                                                     \
    ".popsection\n"                                                                                \
    "3:\n"                                                                                         \
    "leaq 9b(%%rip), %%rax\n"                                                                      \
    "1:\n"                                                                                         \
    "cmpq %%rax, %%fs:8(%[rseq])\n"                                                                \
    "je 5f\n"                                                                                      \
    "movq %%rax, %%fs:8(%[rseq])\n"                                                                \
    "5:\n"                                                                                         \
    "cmpq %[expected], %[current]\n"                                                               \
    "jne %l[gone]\n" access "2:\n"

/// @return whether `current` was `expected`, and the word is stored
template <class Word>
[[gnu::always_inline]] inline bool store_restartable(std::byte* to, Word value,
                                                     unsigned long const& current,
                                                     unsigned long expected) noexcept {
#define BARMAP_STORE(instruction, size)                                                            \
    __asm__ goto(BARMAP_RESTARTABLE(instruction " %" size "[value], (%[to])\n")                    \
                 :                                                                                 \
                 : [rseq] "r"(rseq_offset), [expected] "r"(expected), [current] "m"(current),      \
                   [to] "r"(to), [value] "r"(value)                                                \
                 : "rax", "memory", "cc"                                                           \
                 : gone)
    if constexpr (sizeof(Word) == 1)
        BARMAP_STORE("movb", "b");
    else if constexpr (sizeof(Word) == 2)
        BARMAP_STORE("movw", "w");
    else if constexpr (sizeof(Word) == 4)
        BARMAP_STORE("movl", "k");
    else
        BARMAP_STORE("movq", "q");
#undef BARMAP_STORE
    return true;
gone:
    return false;
}

/// Behind the fence of copy::order_device_words(), right before the load: what stands behind a
/// fence starts after it, so nothing does.
/// @return whether `current` was `expected`, and the word is in `value`
template <class Word>
[[gnu::always_inline]] inline bool load_restartable(Word& value, std::byte const* from,
                                                    unsigned long const& current,
                                                    unsigned long expected) noexcept {
#define BARMAP_LOAD(instruction, size)                                                             \
    __asm__ goto(BARMAP_RESTARTABLE("lock addl $0, -8(%%rsp)\n" instruction " (%[from]), %" size   \
                                    "[value]\n")                                                   \
                 : [value] "=&r"(value)                                                            \
                 : [rseq] "r"(rseq_offset), [expected] "r"(expected), [current] "m"(current),      \
                   [from] "r"(from)                                                                \
                 : "rax", "memory", "cc"                                                           \
                 : gone)
    if constexpr (sizeof(Word) == 1)
        BARMAP_LOAD("movb", "b");
    else if constexpr (sizeof(Word) == 2)
        BARMAP_LOAD("movw", "w");
    else if constexpr (sizeof(Word) == 4)
        BARMAP_LOAD("movl", "k");
    else
        BARMAP_LOAD("movq", "q");
#undef BARMAP_LOAD
    return true;
gone:
    return false;
}

#undef BARMAP_RESTARTABLE

/// Calls one<Word>() with the unsigned type of so many bytes. @pre bytes is 1, 2, 4 or 8
template <class One>
[[gnu::always_inline]] inline bool with_word(std::size_t bytes, One one) noexcept {
    switch (bytes) {
    case 1:
        return one(std::uint8_t{});
    case 2:
        return one(std::uint16_t{});
    case 4:
        return one(std::uint32_t{});
    default:
        return one(std::uint64_t{});
    }
}

} // namespace detail

/// Whether the two functions below may be called: set before any handle is mapped.
extern std::atomic<bool> words_are_restartable;

/// @pre gpu is aligned to bytes, which are 1, 2, 4 or 8
/// @return whether `current` was `expected` when the word was stored; if not, nothing was
[[gnu::always_inline]] inline bool store_word_if(std::byte* gpu, std::byte const* host,
                                                 std::size_t bytes, unsigned long const& current,
                                                 unsigned long expected) noexcept {
    return detail::with_word(bytes, [&](auto word) {
        std::memcpy(&word, host, sizeof word);
        return detail::store_restartable(gpu, word, current, expected);
    });
}

/// The same in the other direction, behind a fence.
[[gnu::always_inline]] inline bool load_word_if(std::byte* host, std::byte const* gpu,
                                                std::size_t bytes, unsigned long const& current,
                                                unsigned long expected) noexcept {
    return detail::with_word(bytes, [&](auto word) {
        if (!detail::load_restartable(word, gpu, current, expected))
            return false;
        std::memcpy(host, &word, sizeof word);
        return true;
    });
}

#else

inline constexpr std::atomic<bool> words_are_restartable{false};

inline bool store_word_if(std::byte*, std::byte const*, std::size_t, unsigned long const&,
                          unsigned long) noexcept {
    return false;
}
inline bool load_word_if(std::byte*, std::byte const*, std::size_t, unsigned long const&,
                         unsigned long) noexcept {
    return false;
}

#endif

/// Finds out whether this process can, and readies it. Once, before any handle is mapped.
void set_up_restartable_words() noexcept;

/// No thread is between a comparison that came out equal and its access any more.
/// @return false if the kernel refuses, so that there may be one
[[nodiscard]] bool restart_all_words() noexcept;

} // namespace barmap::gdrapi
