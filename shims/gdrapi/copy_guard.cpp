// SPDX-License-Identifier: MIT
#include "copy_guard.hpp"

#include "os/process_barrier.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <vector>

namespace barmap::gdrapi {

using detail::blocks;
using detail::index_bits;
using detail::index_mask;
using detail::slots_per_block;

namespace {

/// Who takes and gives back slots. Never destroyed, like all that a copy at process exit may meet.
struct keeper {
    std::mutex lock;
    unsigned long serial = 0;
    std::size_t made = 0;
    std::vector<unsigned long> free; ///< indices
};

keeper*& keeper_of_this_process() {
    static auto* instance = new keeper;
    return instance;
}

keeper& the_keeper() {
    return *keeper_of_this_process();
}

std::atomic<reader*> all_readers{nullptr};

void full_fence() noexcept {
#if !defined(__SANITIZE_THREAD__) // which knows no fences, and sees each access in order
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

void leave(void* leaving) noexcept {
    auto* const mine = static_cast<reader*>(leaving);
    detail::this_reader = nullptr;
    mine->in_use.store(nullptr, std::memory_order_release); // a copy may have been left by longjmp
    mine->taken.store(false, std::memory_order_release);
}

/// What gives a thread's reader back when it ends; none where the process has no key left.
std::optional<pthread_key_t> const& end_of_thread() noexcept {
    static std::optional<pthread_key_t> const key = []() -> std::optional<pthread_key_t> {
        pthread_key_t made{};
        if (pthread_key_create(&made, leave) != 0)
            return std::nullopt;
        return made;
    }();
    return key;
}

void set_up_barrier() noexcept {
    static std::once_flag once;
    std::call_once(once, [] {
#if defined(__SANITIZE_THREAD__)
    // ThreadSanitizer knows nothing of membarrier.
#else
        detail::barrier_is_cheap = os::register_process_barrier();
#endif
        set_up_restartable_words();
    });
}

} // namespace

constinit std::array<std::atomic<slot*>, (detail::index_mask + 1) / detail::slots_per_block>
    detail::blocks{};
thread_local constinit reader* detail::this_reader = nullptr;
std::atomic<bool> detail::barrier_is_cheap{false};

bool detail::announce_slowly(slot const& which) noexcept {
    if (!this_reader && !make_reader())
        return false;
    this_reader->in_use.store(&which, std::memory_order_seq_cst);
    full_fence();
    return true;
}

int detail::end_copy(int result) noexcept {
    this_reader->in_use.store(nullptr, std::memory_order_release);
    return result;
}

bool detail::make_reader() noexcept {
    reader* mine = nullptr;
    for (reader* each = all_readers.load(std::memory_order_acquire); each; each = each->next) {
        bool free = false;
        if (each->taken.compare_exchange_strong(free, true, std::memory_order_acq_rel)) {
            mine = each;
            break;
        }
    }
    if (!mine) {
        mine = new (std::nothrow) reader;
        if (!mine)
            return false;
        mine->next = all_readers.load(std::memory_order_relaxed);
        while (!all_readers.compare_exchange_weak(mine->next, mine, std::memory_order_seq_cst))
            ;
    }
    // Whoever unmaps either sees this reader in the list, or voided the slot before this.
    full_fence();
    if (end_of_thread()) // else the reader stays taken
        pthread_setspecific(*end_of_thread(), mine);
    this_reader = mine;
    return true;
}

slot& allocate_slot(unsigned long& handle) {
    keeper& keep = the_keeper();
    std::lock_guard const guard(keep.lock);
    if (keep.free.empty()) {
        if (keep.made == blocks.size())
            throw std::bad_alloc();
        auto block = std::make_unique<slot[]>(slots_per_block);
        keep.free.reserve((keep.made + 1) * slots_per_block); // giving back then cannot fail
        // The very first is nobody's, or handle 0 would name it while it is not mapped.
        if (keep.made == 0)
            block[0].handle = ~0ul;
        for (std::size_t i = slots_per_block; i-- > (keep.made == 0 ? 1u : 0u);)
            keep.free.push_back(keep.made * slots_per_block + i);
        blocks[keep.made++].store(block.release(), std::memory_order_release);
    }
    unsigned long const index = keep.free.back();
    keep.free.pop_back();
    handle = ++keep.serial << index_bits | index;
    return *find_slot(handle);
}

void free_slot(unsigned long handle) noexcept {
    keeper& keep = the_keeper();
    std::lock_guard const guard(keep.lock);
    keep.free.push_back(handle & index_mask);
}

void publish(slot& which, unsigned long handle) {
    set_up_barrier();
    static std::atomic<unsigned long> mappings{0};
    which.mapping.store(++mappings, std::memory_order_release);
    which.handle.store(handle, std::memory_order_release);
}

bool withdraw(slot& which) noexcept {
    which.mapping.store(0, std::memory_order_seq_cst);
    which.handle.store(0, std::memory_order_seq_cst);
    // Without other threads these return at once.
    bool seen = restart_all_words();
    if (detail::barrier_is_cheap)
        seen = os::process_barrier() && seen;
    else
        full_fence();
    // A thread that makes its reader after this finds the slot void.
    for (reader* each = all_readers.load(std::memory_order_seq_cst); each; each = each->next)
        for (unsigned tries = 0;
             each != detail::this_reader && each->in_use.load(std::memory_order_seq_cst) == &which;
             ++tries) {
            constexpr unsigned patience = 100;
            timespec const pause{0, 100'000};
            if (tries < patience)
                sched_yield();
            else
                nanosleep(&pause, nullptr); // lets a thread of lower priority finish
        }
    return seen;
}

void forget_all_slots() noexcept {
    for (std::atomic<slot*>& block : blocks)
        block.store(nullptr, std::memory_order_relaxed);
    // Another thread may have held the parent's lock. The serial goes on, so that the parent's
    // handles stay void.
    keeper*& current = keeper_of_this_process();
    auto* const fresh = new (std::nothrow) keeper;
    if (!fresh)
        std::terminate(); // nobody could be told
    fresh->serial = current->serial;
    current = fresh;
}

} // namespace barmap::gdrapi
