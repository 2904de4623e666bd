// SPDX-License-Identifier: MIT
#include "restartable_word.hpp"

#include "os/process_barrier.hpp"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

// glibc 2.35 and later say where they registered each thread's struct rseq, and how much of it; the
// size is 0 where the kernel has none, or the user switched it off. Weak, for an older glibc.
extern "C" {
[[gnu::weak]] extern std::ptrdiff_t const __rseq_offset;
[[gnu::weak]] extern unsigned int const __rseq_size;
}

namespace barmap::gdrapi {

std::ptrdiff_t detail::rseq_offset = 0;
bool words_are_restartable = false;

void set_up_restartable_words() noexcept {
    if (!&__rseq_size || !&__rseq_offset || __rseq_size == 0 || !os::register_restart_barrier())
        return;
    detail::rseq_offset = __rseq_offset;
    words_are_restartable = true;
}

void restart_all_words() noexcept {
    if (words_are_restartable)
        os::restart_barrier();
}

} // namespace barmap::gdrapi

#else

namespace barmap::gdrapi {

void set_up_restartable_words() noexcept {}
void restart_all_words() noexcept {}

} // namespace barmap::gdrapi

#endif
