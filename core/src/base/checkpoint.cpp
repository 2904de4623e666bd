// SPDX-License-Identifier: MIT
#include "base/checkpoint.hpp"

#include "system/of_thread.hpp"
#include "system/process.hpp"

#include <barmap/error.hpp>
#include <barmap/waits.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>

namespace barmap::checkpoint {

struct process_state {
    explicit process_state(bool of_child) : is_of_child(of_child) {}

    enum class phase { running, deciding, prepared, overtaken };

    /// Counts the passes of one thread. Only that thread writes it: threads do not wait for each
    /// other, and the end of a pass does not drain the stores through a mapping, as an atomic
    /// addition would: 0.3 us after 32 KiB (H100).
    struct alignas(64) seat {
        std::atomic<std::size_t> passes{0};
        std::atomic<bool> is_taken{true}; ///< by a live thread
        seat* next = nullptr;
    };

    [[nodiscard]] bool is_in_use() const noexcept {
        for (seat const* each = seats.load(); each; each = each->next)
            if (each->passes.load() != 0)
                return true;
        return leaving.load() != 0;
    }

    os::process_id const owner = os::this_process();
    bool const is_of_child; ///< the parent had survivors at the fork
    std::atomic<phase> now{phase::running};
    std::atomic<seat*> seats{nullptr};   ///< never freed; new threads reuse those of ended ones
    std::atomic<std::size_t> leaving{0}; ///< survivors in destruction
    std::mutex one_at_a_time;            ///< for prepare() and restore(); locked before `lock`
    std::mutex lock;
    std::list<survivor*> survivors; ///< under the lock
};

namespace {

using phase = process_state::phase;

/// The calling process's state. Never destroyed, because static objects may use it until the end. A
/// child does not touch its parent's state, whose locks may be held forever.
process_state& of_this_process() {
    static std::atomic<process_state*> latest{nullptr};
    process_state* known = latest.load(std::memory_order_acquire);
    while (!known || !os::is_this_process(known->owner)) {
        // Without the parent's lock, which may be held forever.
        auto* const made = new process_state(known && !known->survivors.empty());
        if (latest.compare_exchange_strong(known, made, std::memory_order_acq_rel))
            return *made;
        delete made;
    }
    return *known;
}

using seat = process_state::seat;

seat* take_seat(process_state& in) {
    for (seat* each = in.seats.load(); each; each = each->next)
        if (!each->is_taken.load(std::memory_order_relaxed) && !each->is_taken.exchange(true))
            return each;
    auto* const made = new seat;
    made->next = in.seats.load();
    while (!in.seats.compare_exchange_weak(made->next, made)) {
        // Another thread was faster.
    }
    return made;
}

/// The calling thread's seat and process.
struct seat_of_thread {
    process_state* in = nullptr;
    seat* own = nullptr;
};
static_assert(std::is_trivially_destructible_v<seat_of_thread>);
constinit thread_local seat_of_thread here;

struct end_of_thread {
    ~end_of_thread() {
        seat* const own = std::exchange(here, {}).own;
        if (own && own->passes.load(std::memory_order_relaxed) == 0) // else it ends inside a call
            own->is_taken.store(false, std::memory_order_release);
    }
};

/// The number of passes that the calling thread holds.
std::atomic<std::size_t>& passes_of_thread(process_state& in) {
    if (here.in != &in) {                          // first call of the thread, or a forked child
        (void)os::of_thread<end_of_thread>::get(); // without it, the seat stays taken
        here = {&in, take_seat(in)};
    }
    return here.own->passes;
}

constexpr std::chrono::microseconds pause_between_looks{20};

[[noreturn]] void throw_overtaken(std::string_view operation) {
    throw error(errc::checkpointed, std::string(operation), "",
                "CUDA was checkpointed and restored without checkpoint_prepare(), so mappings "
                "still reach the old memory: call checkpoint_restore() to repair them; stores "
                "through them since the checkpoint are lost");
}

} // namespace

void refuse_overtaken(std::string_view operation) {
    auto running = phase::running;
    of_this_process().now.compare_exchange_strong(running, phase::overtaken);
    throw_overtaken(operation);
}

membership::membership(survivor& of) : in_(&of_this_process()) {
    std::lock_guard const hold(in_->lock);
    at_ = in_->survivors.insert(in_->survivors.end(), &of);
}

void membership::leave() noexcept {
    if (!in_ || !os::is_this_process(in_->owner))
        return;
    std::lock_guard const hold(in_->lock);
    in_->leaving.fetch_add(1); // ~survivor() subtracts it
    (*at_)->leaves_ = in_;
    in_->survivors.erase(at_);
    in_ = nullptr;
}

survivor::~survivor() {
    if (leaves_)
        leaves_->leaving.fetch_sub(1);
}

// Both sides store before they load: either prepare() sees the pass, or the pass sees prepare().
pass::pass(std::string_view operation) : through_(&of_this_process()) {
    std::atomic<std::size_t>& passes = passes_of_thread(*through_);
    std::size_t const held = passes.load(std::memory_order_relaxed);
    if (held > 0) {
        passes.store(held + 1, std::memory_order_relaxed);
        return;
    }
    for (;;) {
        passes.store(1);
        phase const now = through_->now.load();
        if (now == phase::running)
            return;
        passes.store(0);
        if (now == phase::overtaken)
            throw_overtaken(operation);
        if (now == phase::prepared)
            throw error(errc::checkpointed, std::string(operation), "",
                        "the process is prepared for a checkpoint: call checkpoint_restore() "
                        "first");
        std::this_thread::sleep_for(pause_between_looks);
    }
}

pass::~pass() {
    if (!through_)
        return;
    std::atomic<std::size_t>& passes = passes_of_thread(*through_);
    passes.store(passes.load(std::memory_order_relaxed) - 1, std::memory_order_release);
}

namespace {

constexpr char preparing[] = "prepare the process for a checkpoint";
constexpr char restoring[] = "restore the process after a checkpoint";

process_state& own_state(char const* operation) {
    process_state& all = of_this_process();
    if (all.is_of_child)
        throw error(errc::forked_child, operation, "",
                    "call it in the process that opened the device");
    return all;
}

/// Waits for calls, destructors and copies.
/// @return the lock of the list, which keeps new ones from starting
/// @throws error errc::copy_unfinished
std::unique_lock<std::mutex> lock_when_idle(process_state& all, char const* operation,
                                            std::chrono::nanoseconds at_most) {
    auto const until = detail::end_of_wait(at_most);
    for (;;) {
        std::unique_lock hold(all.lock);
        if (!all.is_in_use() &&
            std::ranges::none_of(all.survivors, [](survivor* each) { return each->is_busy(); }))
            return hold;
        hold.unlock();
        if (std::chrono::steady_clock::now() >= until)
            throw error(errc::copy_unfinished, operation, "",
                        "batches or other calls are still in flight: wait for their tickets, or "
                        "allow more time; nothing has changed");
        std::this_thread::sleep_for(pause_between_looks);
    }
}

// The caller of the next four functions holds the lock.

/// Continues after a failure. @throws error the first failure
void let_all_go(process_state& all) {
    std::exception_ptr first_failure;
    for (auto each = all.survivors.rbegin(); each != all.survivors.rend(); ++each) {
        try {
            (*each)->release();
        } catch (std::exception const&) {
            if (!first_failure)
                first_failure = std::current_exception();
        }
    }
    if (first_failure)
        std::rethrow_exception(first_failure);
}

/// All or none.
void bring_all_back(process_state& all) {
    try {
        for (survivor* each : all.survivors)
            each->restore();
    } catch (std::exception const&) {
        auto const failure = std::current_exception();
        try {
            let_all_go(all);
        } catch (std::exception const&) {
            // The first failure matters more.
        }
        std::rethrow_exception(failure);
    }
}

/// @return whether it restored everything; if not, the process is prepared
bool undo(process_state& all) noexcept {
    try {
        bring_all_back(all);
        return true;
    } catch (std::exception const&) {
        all.now.store(phase::prepared);
        return false;
    }
}

void let_all_go_or_none(process_state& all) {
    try {
        let_all_go(all);
    } catch (error const& failure) {
        if (undo(all))
            throw;
        throw error(failure.code(), failure.operation(), failure.backend(),
                    "barmap could not undo the failed call, so the process is prepared: call "
                    "checkpoint_restore()");
    } catch (std::exception const&) { // out of memory
        (void)undo(all);
        throw;
    }
    all.now.store(phase::prepared);
}

} // namespace

void prepare(std::chrono::nanoseconds at_most) {
    process_state& all = own_state(preparing);
    std::lock_guard const alone(all.one_at_a_time);
    if (all.now.load() == phase::prepared)
        return;
    if (all.now.load() == phase::overtaken)
        throw_overtaken(preparing);
    struct decision {
        std::atomic<phase>& now;
        ~decision() {
            auto undecided = phase::deciding;
            now.compare_exchange_strong(undecided, phase::running);
        }
    } const undone{all.now};
    all.now.store(phase::deciding);
    auto const hold = lock_when_idle(all, preparing, at_most);
    for (survivor const* each : all.survivors)
        each->expect_restorable(false);
    let_all_go_or_none(all);
}

void restore() {
    process_state& all = own_state(restoring);
    std::lock_guard const alone(all.one_at_a_time);
    if (all.now.load() == phase::running) {
        std::lock_guard const hold(all.lock);
        if (std::ranges::none_of(all.survivors,
                                 [](survivor* each) { return each->is_overtaken(); }))
            return;
        all.now.store(phase::overtaken);
    }
    bool const is_overtaken = all.now.load() == phase::overtaken;
    constexpr std::chrono::seconds for_batches{10};
    auto const hold = lock_when_idle(all, restoring, for_batches);
    if (is_overtaken) {
        for (survivor const* each : all.survivors)
            each->expect_restorable(true);
        let_all_go(all);
    }
    all.now.store(phase::prepared);
    bring_all_back(all);
    all.now.store(phase::running);
}

} // namespace barmap::checkpoint
