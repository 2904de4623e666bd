// SPDX-License-Identifier: MIT
/// Calls of the CPU by running GPU code: the GPU's side. <barmap/rpc.hpp> makes them, and the rules
/// are in share/doc/barmap/rings.md.
///
///     __global__ void work(barmap::gpu::rpc_to_cpu<question, answer> cpu) {
///         answer found;
///         if (barmap::gpu::call(cpu, question{threadIdx.x}, found, 1000000000) ==
///         barmap::gpu::status::ok)
///             ...
///     }
///
/// The structs are plain and are passed to kernels by value. Compiles as <barmap/gpu/words.cuh>.
#pragma once

#include <barmap/gpu/slots.cuh>
#include <barmap/gpu/status.cuh>
#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

/// The addresses of calls from GPU code, which the CPU serves.
template <class Request, class Reply>
struct rpc_to_cpu {
    word* requests; ///< host memory: slot_to_cpu<Request>
    word* replies;  ///< GPU memory: slot_to_gpu<Reply>
    word* owners;   ///< GPU memory: a detail::owner word for each slot
    word* control;  ///< GPU memory: the words of rpc_words
    word mask;      ///< number of slots less 1, a power of two less 1
};

struct rpc_words {
    static constexpr unsigned closed_by_cpu = 0, next = 1, count = 2;
};

namespace detail {

/// Which call may use a slot: the call of this number; or, after a caller has given up, the next
/// call of this slot, once the reply to the abandoned one has arrived.
struct owner {
    static BARMAP_DEVICE word free_for(word number) { return number << 1; }
    static BARMAP_DEVICE word left_by(word number) { return number << 1 | 1; }
};

template <class Request, class Reply>
BARMAP_DEVICE word* reply_to(rpc_to_cpu<Request, Reply> const& to, word number) {
    return to.replies + (number & to.mask) * slot_to_gpu<Reply>::words;
}

template <class Request, class Reply>
BARMAP_DEVICE bool may_use(rpc_to_cpu<Request, Reply> const& to, word number) {
    word const found = load_acquire(to.owners + (number & to.mask));
    word const before = number - to.mask - 1;
    return found == owner::free_for(number) ||
           (found == owner::left_by(before) &&
            has_arrived<Reply>(reply_to(to, before), before + 1));
}

/// Takes the reply to a call, if it has arrived, and frees its slot.
template <class Request, class Reply>
BARMAP_DEVICE bool take_reply(rpc_to_cpu<Request, Reply> const& to, word number, Reply& reply) {
    if (!take_slot(reply_to(to, number), number + 1, reply))
        return false;
    store_after_reading<Reply>(to.owners + (number & to.mask),
                               owner::free_for(number + to.mask + 1));
    return true;
}

/// Makes the call of this number, whose slot is free.
template <class Request, class Reply>
BARMAP_DEVICE status make_call(rpc_to_cpu<Request, Reply> const& to, word number,
                               Request const& request, Reply& reply, time_limit limit) {
    write_slot(to.requests + (number & to.mask) * slot_to_cpu<Request>::words, number + 1, request);
    for (;;) {
        if (take_reply(to, number, reply))
            return status::ok;
        if (limit.polls_again())
            continue;
        // Replies from before the CPU closed have arrived by now.
        bool const is_closed = load_acquire(to.control + rpc_words::closed_by_cpu) != 0;
        if (is_closed && take_reply(to, number, reply))
            return status::ok;
        if (is_closed || limit.is_over()) {
            store_release(to.owners + (number & to.mask), owner::left_by(number));
            return is_closed ? status::closed : status::timed_out;
        }
    }
}

} // namespace detail

/// Calls the CPU, and polls for its reply. Any number of threads may call at once, also lanes of a
/// warp from sm_70 on. Call fence_system() before if the CPU must also see other memory that this
/// thread stored to.
/// @param nanoseconds how long in all, for a free slot and the reply, by a clock that is read after
///        each 64 polls; 0: polls once for each
/// @return ok; full (nanoseconds is 0) or timed_out if no slot was free: the CPU then gets no
///         request; timed_out if no reply came: a later one is dropped; closed
template <class Request, class Reply>
BARMAP_DEVICE status call(rpc_to_cpu<Request, Reply> const& to, Request const& request,
                          Reply& reply, word nanoseconds) {
    word* const next = to.control + rpc_words::next;
    for (detail::time_limit limit(nanoseconds);;) {
        word const number = load_relaxed(next);
        if (detail::may_use(to, number)) {
            if (replace(next, number, number + 1))
                return detail::make_call(to, number, request, reply, limit);
            continue; // another thread has taken the number, so the threads make progress
        }
        if (load_relaxed(to.control + rpc_words::closed_by_cpu) != 0)
            return status::closed;
        if (!limit.polls_again() && limit.is_over())
            return limit.without(status::full);
    }
}

/// Calls the CPU from one thread at a time, while no thread uses call(): it saves three trips to
/// the GPU's memory. The destructor stores where it has ended, and the next caller continues
/// there.
template <class Request, class Reply>
class caller {
public:
    BARMAP_DEVICE explicit caller(rpc_to_cpu<Request, Reply> const& to)
        : to_(to), number_(load_relaxed(to.control + rpc_words::next)), unsure_(to.mask + 1) {}
    caller(caller const&) = delete;
    caller& operator=(caller const&) = delete;
    BARMAP_DEVICE ~caller() { store_relaxed(to_.control + rpc_words::next, number_); }

    /// As barmap::gpu::call().
    BARMAP_DEVICE status call(Request const& request, Reply& reply, word nanoseconds) {
        detail::time_limit limit(nanoseconds);
        if (unsure_ != 0) {
            status const slot = wait_for_slot(limit);
            if (slot != status::ok)
                return slot;
            --unsure_;
        }
        status const result = detail::make_call(to_, number_, request, reply, limit);
        ++number_;
        if (result != status::ok)
            unsure_ = to_.mask + 1;
        return result;
    }

private:
    BARMAP_DEVICE status wait_for_slot(detail::time_limit& limit) {
        for (;;) {
            if (detail::may_use(to_, number_))
                return status::ok;
            if (load_relaxed(to_.control + rpc_words::closed_by_cpu) != 0)
                return status::closed;
            if (!limit.polls_again() && limit.is_over())
                return limit.without(status::full);
        }
    }

    rpc_to_cpu<Request, Reply> to_;
    word number_;
    word unsure_; ///< how many next slots other callers may have abandoned without a reply
};

} // namespace gpu
} // namespace barmap
