// SPDX-License-Identifier: MIT
#include "os/process.hpp"

#include "os/region.hpp"

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

/// A word that the kernel sets to 0 in a child, however it was forked (Linux 4.14), one for the
/// life of the process. Elsewhere an ordinary one: the number of the process must then do.
word& find_word() noexcept {
    if (word* const known = generation_word.load(std::memory_order_acquire))
        return *known;
    void* const page =
        ::mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool const wiped = page != MAP_FAILED && ::madvise(page, page_size(), MADV_WIPEONFORK) == 0;
    word* mine = wiped ? static_cast<word*>(page) : &never_wiped;
    word* first = nullptr;
    if (generation_word.compare_exchange_strong(first, mine) && wiped)
        return *mine;
    if (page != MAP_FAILED)
        ::munmap(page, page_size());
    return first ? *first : never_wiped;
}

pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;
thread_local bool mine = false; ///< this thread has it for no_fork

// A signal handler that forks under no_fork would wait for itself.
void before_fork() noexcept {
    if (!mine)
        ::pthread_mutex_lock(&forking);
}

void after_fork() noexcept {
    if (!mine)
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

bool is_probably_this_process(process_id owner) noexcept {
    return find_word().load(std::memory_order_relaxed) == owner.generation;
}

no_fork::no_fork() noexcept {
    [[maybe_unused]] static int const registered =
        ::pthread_atfork(before_fork, after_fork, after_fork);
    ::pthread_mutex_lock(&forking);
    mine = true;
}

no_fork::~no_fork() {
    mine = false;
    ::pthread_mutex_unlock(&forking);
}

} // namespace barmap::os
