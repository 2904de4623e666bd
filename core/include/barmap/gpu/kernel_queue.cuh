// SPDX-License-Identifier: MIT
/// The GPU's side of barmap::kernel_queue: a warp of a running kernel submits copies to a copy
/// engine of its GPU, without the CPU. Compiles as <barmap/gpu/words.cuh>, but not for HIP. On the
/// CPU a warp has one lane.
///
///     __global__ void fetch(gpu::kernel_queue queue, gpu::copy_piece const* pieces, unsigned n) {
///         gpu::warp_submitter copies(queue); // of the block's first warp
///         gpu::word ticket;
///         gpu::status s = copies.submit(n, [&](unsigned i) { return pieces[i]; }, ticket);
///         if (s == gpu::status::ok)
///             s = copies.wait(ticket, 1000000000); // now this warp sees the bytes
///     }
#pragma once

#include <barmap/gpu/copy_commands.cuh>
#include <barmap/gpu/status.cuh>
#include <barmap/gpu/warp.cuh>

#if defined(__HIP__) || defined(__HIPCC__)
#error "barmap's queues for kernels are for CUDA"
#endif

namespace barmap {
namespace gpu {

/// One contiguous part of a submission: addresses of this GPU with any alignment. Each side is
/// memory that CUDA has mapped for this GPU, except managed memory: its own, another GPU's with
/// peer access, pinned host memory. The two sides must not overlap.
struct copy_piece {
    word to, from;
    word bytes; ///< up to most_bytes; 0: nothing is copied
};

/// What submissions leave in the queue's memory for the next kernel.
struct kernel_queue_state {
    word ticket;   ///< of the last submission
    word position; ///< slots of the ring of commands since the beginning, modulo 2^32, and in the
                   ///< upper half the entries of the GPFIFO
    word at;       ///< the ring's next slot
    word holder;   ///< 1 while a warp has the queue
    word failed;   ///< 1 when the channel has stopped; set by the CPU
    word refused;  ///< the status of a list that was not copied whole, of submit_and_wait()
};

/// A queue of barmap::kernel_queue, as kernels take it, by value or by pointer.
struct kernel_queue {
    static constexpr unsigned layout_number = 1;
    static constexpr unsigned most_pieces = 4096;     ///< of a submission
    static constexpr word most_bytes = word(1) << 30; ///< of a piece
    static constexpr unsigned gpfifo_entries = 1024;
    static constexpr unsigned most_tickets = 256; ///< one more than may be in flight
    static constexpr unsigned words_of_slot = 8;

    unsigned layout; ///< layout_number of the library that made it
    unsigned token;  ///< for the doorbell
    unsigned* doorbell;
    unsigned* put;         ///< GP_PUT
    word* entries;         ///< the GPFIFO
    unsigned* commands;    ///< a ring of `slots` slots, aligned to 32 bytes
    word commands_address; ///< as the engine knows it
    word slots;
    unsigned* semaphore; ///< the lower half of the last ticket that is done
    word semaphore_address;
    kernel_queue_state* state;
    word* used_by; ///< of most_tickets tickets: how many slots were used with it, modulo 2^32
    word reserved[5];
};

/// A word that a submission sets once its bytes, and those of the queue's earlier submissions, are
/// visible wherever the word is read.
struct copy_signal {
    word address;   ///< aligned to 4 bytes, memory as of a piece; 0: none
    unsigned value; ///< stored as 4 bytes
};

/// What a submission comes after.
enum class fence_scope {
    system, ///< all that the warp has written or seen, wherever it lies
    device  ///< only what lies in this GPU's memory; saves 0.5 us (H200)
};

namespace detail {

BARMAP_DEVICE void fence_device() {
#if defined(BARMAP_ON_CUDA)
    asm volatile("fence.acq_rel.gpu;" : : : "memory");
#else
    fence_system();
#endif
}

BARMAP_DEVICE void store_relaxed_32(unsigned* to, unsigned value) {
#if defined(BARMAP_ON_CUDA)
    asm volatile("st.relaxed.sys.u32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
#else
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
#endif
}

BARMAP_DEVICE unsigned load_acquire_32(unsigned const* from) {
#if defined(BARMAP_ON_CUDA)
    unsigned value;
    asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
#else
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
#endif
}

/// Four words, with one store. @pre `to` is aligned to 16 bytes
BARMAP_DEVICE void store_four(unsigned* to, unsigned a, unsigned b, unsigned c, unsigned d) {
#if defined(BARMAP_ON_CUDA)
    asm volatile("st.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
#else
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
#endif
}

/// Whether any lane's value is true.
BARMAP_DEVICE bool any_lane(bool value) {
    return ready_lanes(!value) != lanes();
}

} // namespace detail

/// Submits to a queue, for a whole warp: all 32 lanes make, use and destroy it together, with equal
/// arguments. One warp at a time may have one on a queue; kernels in stream order may follow each
/// other. Those that ended otherwise than by their destructors leave the queue busy for good.
class warp_submitter {
public:
    BARMAP_DEVICE explicit warp_submitter(kernel_queue const& queue,
                                          fence_scope scope = fence_scope::system)
        : queue_(queue), scope_(scope), opened_(open()) {
        if (opened_ != status::ok)
            return;
        keep_in_registers();
        kernel_queue_state const& state = *queue.state;
        ticket_ = load_relaxed(&state.ticket);
        word const position = load_relaxed(&state.position);
        used_ = static_cast<unsigned>(position);
        entries_ = static_cast<unsigned>(position >> 32);
        at_ = static_cast<unsigned>(load_relaxed(&state.at));
        find_room();
    }
    warp_submitter(warp_submitter const&) = delete;
    warp_submitter& operator=(warp_submitter const&) = delete;
    BARMAP_DEVICE ~warp_submitter() {
        if (opened_ != status::ok)
            return;
        detail::join_lanes();
        if (detail::lane() == 0) {
            kernel_queue_state& state = *queue_.state;
            store_relaxed(&state.ticket, ticket_);
            store_relaxed(&state.position, position());
            store_relaxed(&state.at, at_);
            store_release(&state.holder, 0);
        }
    }

    /// ok; busy if another warp has the queue, invalid for a handle of another version: then all
    /// else returns that, too, and making another submitter is another attempt.
    BARMAP_DEVICE status opened() const { return opened_; }

    /// Submits pieces, which are copied in no order, after all that the lanes have written before
    /// (see fence_scope). Returns before they are copied: keep both sides, and the sources
    /// unchanged, until the ticket is done.
    /// @param count up to kernel_queue::most_pieces; with 0, the ticket and the signal come after
    ///        the queue's earlier submissions
    /// @param piece_of called once by one of the lanes as piece_of(i) for each i < count
    /// @param ticket set if the result is ok or invalid_piece
    /// @param nanoseconds how long to wait for room
    /// @return ok; full or timed_out without room, or failed if the channel has stopped; invalid
    /// for
    ///         too many pieces, a signal that is not aligned, or a handle of another version; busy
    ///         if another warp has the queue: nothing is copied then. invalid_piece if some are
    ///         longer than kernel_queue::most_bytes: the others are copied
    template <class PieceOf>
    BARMAP_DEVICE status submit(unsigned count, PieceOf const& piece_of, word& ticket,
                                copy_signal const& signal = copy_signal{0, 0},
                                word nanoseconds = 0) {
        if (opened_ != status::ok)
            return opened_;
        if (count > kernel_queue::most_pieces || signal.address % 4 != 0)
            return status::invalid;
        unsigned const pieces = count == 0 ? 1 : count; // without any, one of no bytes
        unsigned const slots = 1 + pieces + (signal.address != 0);
        status const room = wait_for_room(slots, nanoseconds);
        if (room != status::ok)
            return room;
        // An idle engine starts while the warp still writes; one that is busy gets the list whole.
        bool const is_idle = done_ == commands::low(ticket_);
        ++ticket_;
        unsigned* const list = queue_.commands + at_ * kernel_queue::words_of_slot;
        bool is_wrong = false;
        unsigned segment = first_segment;
        for (unsigned begin = 0, end; begin < pieces; begin = end, segment *= growth) {
            end = pieces - begin <= segment || !is_idle ? pieces : begin + segment;
            unsigned i = begin + detail::lane();
            for (; i + (at_once - 1) * detail::lanes() < end; i += at_once * detail::lanes()) {
                copy_piece some[at_once]; // whose loads overlap
                BARMAP_UNROLL
                for (unsigned j = 0; j < at_once; ++j)
                    some[j] = piece_of(i + j * detail::lanes());
                BARMAP_UNROLL
                for (unsigned j = 0; j < at_once; ++j)
                    is_wrong |= !put_piece(list, i + j * detail::lanes(), pieces, some[j]);
            }
            for (; i < end; i += detail::lanes())
                is_wrong |=
                    !put_piece(list, i, pieces, count != 0 ? piece_of(i) : copy_piece{0, 0, 0});
            publish(list, begin, end, end == pieces, signal);
        }
        used_ += slots;
        at_ += slots;
        if (detail::lane() == 0)
            store_relaxed(queue_.used_by + ticket_ % kernel_queue::most_tickets, used_);
        ticket = ticket_;
        return detail::any_lane(is_wrong) ? status::invalid_piece : status::ok;
    }

    /// Whether a submission to the queue is done: then the warp sees its bytes. False for tickets
    /// that were not given, and if opened() is not ok.
    BARMAP_DEVICE bool done(word ticket) {
        if (opened_ != status::ok)
            return false;
        done_ =
            static_cast<unsigned>(detail::of_first_lane(detail::load_acquire_32(queue_.semaphore)));
        detail::join_lanes(); // what one of them sees, all see
        return ticket <= ticket_ - (commands::low(ticket_) - done_);
    }

    /// Polls until a submission is done.
    /// @param nanoseconds how long; 0: polls once
    /// @return ok; empty or timed_out if it is not done; failed if the channel has stopped; busy or
    ///         invalid as submit()
    BARMAP_DEVICE status wait(word ticket, word nanoseconds) {
        if (opened_ != status::ok)
            return opened_;
        for (detail::time_limit limit(nanoseconds);;) {
            if (done(ticket))
                return status::ok;
            if (limit.polls_again())
                continue;
            if (has_failed())
                return status::failed;
            if (detail::any_lane(limit.is_over()))
                return limit.without(status::empty);
        }
    }

private:
    // Pieces of a segment: the engine takes longer for one than the warp for the next (H200).
    static constexpr unsigned first_segment = 32, growth = 16;
    static constexpr unsigned most_segments = 3; ///< of most_pieces pieces
    static_assert((kernel_queue::most_tickets - 1) * most_segments < kernel_queue::gpfifo_entries,
                  "the GPFIFO has room for all that may be in flight");
    static constexpr unsigned at_once = 8; ///< pieces of a lane

    BARMAP_DEVICE status open() const {
        if (queue_.layout != kernel_queue::layout_number)
            return status::invalid;
        bool const is_free = detail::lane() != 0 || replace(&queue_.state->holder, 0, 1);
        if (detail::any_lane(!is_free))
            return status::busy;
        fence();              // what the holder before has stored
        detail::join_lanes(); // the first lane has seen that it is free: all see it
        return status::ok;
    }
    /// Else the compiler loads them from constant memory again, behind each fence.
    BARMAP_DEVICE void keep_in_registers() {
#if defined(BARMAP_ON_CUDA)
        asm volatile(""
                     : "+l"(queue_.doorbell), "+l"(queue_.put), "+l"(queue_.entries),
                       "+l"(queue_.commands), "+l"(queue_.commands_address), "+l"(queue_.semaphore),
                       "+l"(queue_.semaphore_address), "+l"(queue_.used_by), "+r"(queue_.token));
#endif
    }
    BARMAP_DEVICE word position() const {
        return static_cast<word>(entries_) << 32 | used_;
    }
    BARMAP_DEVICE bool has_failed() const {
        return detail::of_first_lane(load_relaxed(&queue_.state->failed)) != 0;
    }

    /// @return whether the piece is short enough; if not, it is left out
    BARMAP_DEVICE bool put_piece(unsigned* list, unsigned i, unsigned pieces,
                                 copy_piece piece) const {
        using namespace commands;
        bool const is_right = piece.bytes <= kernel_queue::most_bytes;
        if (!is_right)
            piece = copy_piece{0, 0, 0};
        // Only a copy makes the others wait for the submission before: in the place of nothing, one
        // of a word that nobody reads, at the list's begin.
        if (i == 0 && pieces > 1 && piece.bytes == 0) {
            word const unread =
                queue_.commands_address + static_cast<word>(list - queue_.commands) * 4;
            piece = copy_piece{unread + 4, unread, 4};
        }
        put_copy(list, i, pieces, piece);
        return is_right;
    }
    BARMAP_DEVICE static void put_copy(unsigned* list, unsigned i, unsigned pieces,
                                       copy_piece const& piece) {
        using namespace commands;
        unsigned launch = launch_linear;
        if (piece.bytes != 0)
            launch |= i == 0 ? launch_non_pipelined : launch_pipelined;
        if (i + 1 == pieces)
            launch |= launch_flush | launch_semaphore;
        unsigned* const to = list + (i + 1) * kernel_queue::words_of_slot;
        detail::store_four(to, methods(copy_subchannel, method_line_length, 1),
                           static_cast<unsigned>(piece.bytes),
                           methods(copy_subchannel, method_offset_in, 4), high(piece.from));
        detail::store_four(to + 4, low(piece.from), high(piece.to), low(piece.to),
                           immediate_method(copy_subchannel, method_launch_dma, launch));
    }
    BARMAP_DEVICE static void put_semaphore(unsigned* to, word address, unsigned value) {
        using namespace commands;
        detail::store_four(to, methods(copy_subchannel, method_set_semaphore, 3), high(address),
                           low(address), value);
    }

    /// Lets the engine execute pieces [begin, end) of a list. Its first slot names the semaphore of
    /// its last piece, the signal's or else the queue's, in its second half. Behind a signal, the
    /// last slot releases the queue's own.
    BARMAP_DEVICE void publish(unsigned* list, unsigned begin, unsigned end, bool is_last,
                               copy_signal const& signal) {
        using namespace commands;
        constexpr unsigned slot = kernel_queue::words_of_slot;
        if (detail::lane() == 0) {
            unsigned* from = list + (begin + 1) * slot;
            unsigned* to = list + (end + 1) * slot;
            bool const has_signal = signal.address != 0;
            if (begin == 0) {
                from -= slot / 2;
                put_semaphore(from, has_signal ? signal.address : queue_.semaphore_address,
                              has_signal ? signal.value : low(ticket_));
            }
            if (is_last && has_signal) {
                put_semaphore(to, queue_.semaphore_address, low(ticket_));
                to[slot / 2] = immediate_method(copy_subchannel, method_launch_dma,
                                                launch_linear | launch_flush | launch_semaphore);
                to += slot / 2 + 1;
            }
            store_relaxed(queue_.entries + entries_ % kernel_queue::gpfifo_entries,
                          gpfifo_entry(queue_.commands_address +
                                           static_cast<word>(from - queue_.commands) * 4,
                                       static_cast<unsigned>(to - from)));
        }
        ++entries_;
        // The engine reads entries as soon as GP_PUT says so: without this fence the channel hung
        // (H200, 580.159.04).
        fence();
        detail::join_lanes();
        if (detail::lane() == 0) {
            detail::store_relaxed_32(queue_.put, entries_ % kernel_queue::gpfifo_entries);
            fence();
            detail::store_relaxed_32(queue_.doorbell, queue_.token);
        }
        detail::join_lanes();
    }
    BARMAP_DEVICE void fence() const {
        if (scope_ == fence_scope::system)
            fence_system();
        else
            detail::fence_device();
    }

    /// Waits for room, and skips the ring's end if the slots do not fit there.
    BARMAP_DEVICE status wait_for_room(unsigned slots, word nanoseconds) {
        unsigned const end = static_cast<unsigned>(queue_.slots);
        bool const begins_anew = at_ + slots > end;
        unsigned const skipped = begins_anew ? end - at_ : 0; // also 0 right at the end
        for (detail::time_limit limit(nanoseconds);;) {
            if (has_room(slots + skipped))
                break;
            find_room();
            if (has_room(slots + skipped))
                break;
            if (limit.polls_again())
                continue;
            if (has_failed())
                return status::failed;
            if (detail::any_lane(limit.is_over()))
                return limit.without(status::full);
        }
        free_slots_ -= slots + skipped;
        --free_tickets_;
        used_ += skipped;
        if (begins_anew)
            at_ = 0;
        return status::ok;
    }
    BARMAP_DEVICE bool has_room(unsigned slots) const {
        return free_slots_ >= slots && free_tickets_ != 0;
    }
    /// What the submissions that are done have left free.
    BARMAP_DEVICE void find_room() {
        (void)done(ticket_);
        unsigned const in_flight = commands::low(ticket_) - done_;
        word const used_then = detail::of_first_lane(
            load_relaxed(queue_.used_by + (ticket_ - in_flight) % kernel_queue::most_tickets));
        free_slots_ =
            static_cast<unsigned>(queue_.slots) - (used_ - static_cast<unsigned>(used_then));
        free_tickets_ = kernel_queue::most_tickets - 1 - in_flight;
    }

    kernel_queue queue_;
    fence_scope scope_;
    status opened_;
    word ticket_ = 0;                          ///< of the last submission
    unsigned used_ = 0, at_ = 0, entries_ = 0; ///< as in kernel_queue_state
    unsigned done_ = 0; ///< the lower half of the last ticket known to be done
    unsigned free_slots_ = 0, free_tickets_ = 0; ///< at least
};

} // namespace gpu
} // namespace barmap
