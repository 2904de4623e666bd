// SPDX-License-Identifier: MIT
#include "restartable_word.hpp"

#include "os/process_barrier.hpp"

namespace barmap::gdrapi {

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

std::ptrdiff_t detail::rseq_offset = 0;
std::atomic<bool> words_are_restartable{false};

void set_up_restartable_words() noexcept {
    if (os::find_rseq(detail::rseq_offset) && os::register_restart_barrier())
        words_are_restartable.store(true, std::memory_order_release);
}

bool restart_all_words() noexcept {
    return !words_are_restartable || os::restart_barrier();
}

#else

void set_up_restartable_words() noexcept {}

bool restart_all_words() noexcept {
    return true;
}

#endif

} // namespace barmap::gdrapi
