// SPDX-License-Identifier: MIT
#include "system/process.hpp"

#include "system/region.hpp"

#include <atomic>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace barmap::os {
namespace {

using word = std::atomic<unsigned>;

constinit word last_generation{0};
constinit word never_wiped{1};
constinit std::atomic<word*> generation_word{nullptr};

// The same by fork() alone, for emulators that accept MADV_WIPEONFORK and do nothing.
void wipe_in_child() noexcept {
    generation_word.load(std::memory_order_relaxed)->store(0, std::memory_order_relaxed);
}

/// A word that the kernel sets to 0 in a child, however it was forked (Linux 4.14), one for the
/// life of the process. Elsewhere an ordinary one: the PID must then do.
word& find_word() noexcept {
    if (word* const known = generation_word.load(std::memory_order_acquire))
        return *known;
    void* const page =
        ::mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool const wiped = page != MAP_FAILED && ::madvise(page, page_size(), MADV_WIPEONFORK) == 0;
    word* mine = wiped ? static_cast<word*>(page) : &never_wiped;
    word* first = nullptr;
    if (generation_word.compare_exchange_strong(first, mine) && wiped) {
        ::pthread_atfork(nullptr, nullptr, wipe_in_child);
        return *mine;
    }
    if (page != MAP_FAILED)
        ::munmap(page, page_size());
    return first ? *first : never_wiped;
}

pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;

void before_fork() noexcept {
    ::pthread_mutex_lock(&forking);
}

void after_fork() noexcept {
    ::pthread_mutex_unlock(&forking);
}

} // namespace

process_id this_process() noexcept {
    word& at = find_word();
    unsigned now = at.load(std::memory_order_relaxed);
    if (now == 0) { // wiped, or new; what the ancestors had is smaller
        unsigned const next = last_generation.fetch_add(1, std::memory_order_relaxed) + 1;
        if (at.compare_exchange_strong(now, next))
            now = next;
    }
    return {::getpid(), now};
}

bool is_this_process(process_id owner) noexcept {
    word const& at = find_word();
    unsigned const now = at.load(std::memory_order_relaxed);
    bool const same = now != 0 && now == owner.generation;
    return same && (&at != &never_wiped || ::getpid() == owner.number);
}

no_fork::no_fork() noexcept {
    [[maybe_unused]] static int const registered =
        ::pthread_atfork(before_fork, after_fork, after_fork);
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    ::pthread_mutex_lock(&forking);
}

no_fork::~no_fork() {
    ::pthread_mutex_unlock(&forking);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

} // namespace barmap::os
