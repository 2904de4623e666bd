// SPDX-License-Identifier: MIT
/// The GPU's side of barmap::kernel_queue: a warp of a running kernel submits copies to a copy
/// engine of its GPU, without the CPU. Compiles as <barmap/gpu/words.cuh>, but not for HIP. On the
/// CPU a warp has one lane. Warps that submit at the same time take <barmap/gpu/shared_queue.cuh>.
///
///     __global__ void fetch(gpu::kernel_queue queue, gpu::copy_piece const* pieces, unsigned n) {
///         gpu::warp_submitter copies(queue); // of the block's first warp
///         gpu::word ticket;
///         gpu::status s = copies.submit(n, [&](unsigned i) { return pieces[i]; }, ticket);
///         if (s == gpu::status::ok)
///             s = copies.wait(ticket, 1000000000); // now this warp sees the bytes
///     }
#pragma once

#include <barmap/gpu/queue_handle.cuh>

namespace barmap {
namespace gpu {

/// Submits to a queue, for a whole warp: all 32 lanes make, use and destroy it together, with equal
/// arguments. One warp at a time may have one on a queue; kernels in stream order may follow each
/// other. A kernel that ends without the destructor leaves the queue busy for good.
class warp_submitter : private detail::queue_user {
public:
    BARMAP_DEVICE explicit warp_submitter(kernel_queue const& queue,
                                          fence_scope scope = fence_scope::system)
        : queue_user(queue, scope), opened_(open()) {
        if (opened_ != status::ok)
            return;
        position_ = load_relaxed(&queue.state->position);
        entries_ = load_relaxed(&queue.state->entries);
        keep_in_registers(position_ >> 63); // no queue gets that far
        find_room();
    }
    BARMAP_DEVICE ~warp_submitter() {
        if (opened_ != status::ok)
            return;
        detail::join_lanes();
        if (lane() == 0) {
            kernel_queue_state& state = *queue_.state;
            store_relaxed(&state.position, position_);
            store_relaxed(&state.entries, entries_);
            store_release(&state.holder, 0);
        }
    }

    /// ok; busy if another warp has the queue, invalid for a handle of another version or of the
    /// shared form: then all else also returns that, and making another submitter is another
    /// attempt.
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
    ///         for too many pieces, a signal that is not aligned or that the GPU cannot set, or a
    ///         handle of another version; busy if another warp has the queue: nothing is copied
    ///         then. invalid_piece if some are longer than kernel_queue::most_bytes: the others are
    ///         copied
    template <class PieceOf>
    BARMAP_DEVICE status submit(unsigned count, PieceOf const& piece_of, word& ticket,
                                copy_signal const& signal = copy_signal{0, 0, 0},
                                word nanoseconds = 0) {
        if (opened_ != status::ok)
            return opened_;
        if (!is_allowed(count, signal))
            return status::invalid;
        unsigned const pieces = count == 0 ? 1 : count; // without any, one of no bytes
        unsigned const slots = slots_of(pieces, signal.address != 0);
        status const room = wait_for_room(slots, nanoseconds);
        if (room != status::ok)
            return room;
        // An idle engine starts while the warp still writes; one that is busy gets the list whole.
        bool const is_idle = done_ == commands::low(position_);
        word const at = begin_of(slots);
        position_ = at + slots;
        unsigned* const list =
            queue_.commands + at % kernel_queue::slots * kernel_queue::words_of_slot;
        bool is_wrong = false;
        unsigned segment = first_segment;
        for (unsigned begin = 0, end; begin < pieces; begin = end, segment *= growth) {
            end = pieces - begin <= segment || !is_idle ? pieces : begin + segment;
            unsigned i = begin + lane();
            for (; i + (at_once - 1) * detail::lanes() < end; i += at_once * detail::lanes()) {
                copy_piece some[at_once]; // whose loads overlap
                BARMAP_UNROLL
                for (unsigned j = 0; j < at_once; ++j)
                    some[j] = piece_of(i + j * detail::lanes());
                BARMAP_UNROLL
                for (unsigned j = 0; j < at_once; ++j)
                    is_wrong |= !put_piece(list, i + j * detail::lanes(), pieces, some[j], signal);
            }
            for (; i < end; i += detail::lanes())
                is_wrong |= !put_piece(list, i, pieces,
                                       count != 0 ? piece_of(i) : copy_piece{0, 0, 0}, signal);
            publish_segment(list, begin, end, end == pieces, signal);
        }
        ticket = position_;
        return detail::any_lane(is_wrong) ? status::invalid_piece : status::ok;
    }

    /// Whether a submission to the queue is done: then the warp sees its bytes. False for tickets
    /// that were not given, and if opened() is not ok.
    BARMAP_DEVICE bool done(word ticket) {
        if (opened_ != status::ok)
            return false;
        done_ = load_done();
        return ticket <= position_ - in_flight();
    }

    /// Polls until a submission is done.
    /// @param nanoseconds how long; 0: polls once
    /// @return ok; empty or timed_out if it is not done; failed if the channel has stopped; busy or
    ///         invalid as submit()
    BARMAP_DEVICE status wait(word ticket, word nanoseconds) {
        if (opened_ != status::ok)
            return opened_;
        return poll([&] { return done(ticket); }, nanoseconds, status::empty);
    }

private:
    // Pieces of a segment: the engine takes longer for one than the warp for the next (H200).
    static constexpr unsigned first_segment = 32, growth = 16;
    static constexpr unsigned most_segments = 3; ///< of most_pieces pieces
    static constexpr unsigned at_once = 8;       ///< pieces of a lane
    /// The fewest slots of the ring that a segment takes, so that the GPFIFO has room for its
    /// entry.
    static constexpr unsigned slots_of_segment = 64;
    static_assert(kernel_queue::slots / slots_of_segment < kernel_queue::gpfifo_entries,
                  "the GPFIFO has room for all that may be in flight");

    BARMAP_DEVICE status open() const {
        if (queue_.layout != kernel_queue::layout_number || queue_.sharing)
            return status::invalid;
        bool const is_free = lane() != 0 || replace(&queue_.state->holder, 0, 1);
        if (detail::any_lane(!is_free))
            return status::busy;
        fence();              // what the holder before has stored
        detail::join_lanes(); // the first lane has seen that it is free: all see it
        return status::ok;
    }

    /// A list's first slot names the semaphore, its last two a signal and the queue's semaphore.
    BARMAP_DEVICE static unsigned slots_of(unsigned pieces, bool has_signal) {
        unsigned const used = 1 + pieces + (has_signal ? 2 : 0);
        unsigned const least = (pieces <= first_segment ? 1 : most_segments) * slots_of_segment;
        return used < least ? least : used;
    }

    /// @return whether the piece is short enough; if not, it is left out
    BARMAP_DEVICE bool put_piece(unsigned* list, unsigned i, unsigned pieces, copy_piece piece,
                                 copy_signal const& signal) const {
        using namespace commands;
        bool const is_right = piece.bytes <= kernel_queue::most_bytes;
        unsigned bytes = length_of(piece);
        // Only a copy makes the others wait for the submission before: a first piece without bytes
        // becomes a copy of a word that nobody reads, at the list's start.
        if (i == 0 && pieces > 1 && bytes == 0) {
            piece.from = address_of(list);
            piece.to = piece.from + 4;
            bytes = 4;
        }
        unsigned flags = 0;
        if (bytes != 0)
            flags |= i == 0 ? launch_non_pipelined : launch_pipelined;
        if (i + 1 == pieces && signal.address == 0)
            flags |= launch_flush | launch_semaphore;
        put_copy(list + (i + 1) * kernel_queue::words_of_slot, piece, bytes, flags);
        return is_right;
    }

    /// Lets the engine execute pieces [begin, end) of a list.
    BARMAP_DEVICE void publish_segment(unsigned* list, unsigned begin, unsigned end, bool is_last,
                                       copy_signal const& signal) {
        constexpr unsigned slot = kernel_queue::words_of_slot;
        if (lane() == 0) {
            unsigned* from = list + (begin + 1) * slot;
            unsigned* to = list + (end + 1) * slot;
            if (begin == 0) {
                from -= slot / 2;
                put_semaphore(from, queue_.semaphore_address, commands::low(position_));
            }
            if (is_last && signal.address != 0) {
                put_signal(to, signal);
                to = put_release(to + slot, position_);
            }
            put_entry(entries_, address_of(from), static_cast<unsigned>(to - from));
        }
        publish(++entries_);
    }
    BARMAP_DEVICE word address_of(unsigned const* command) const {
        return queue_.commands_address + static_cast<word>(command - queue_.commands) * 4;
    }

    /// The position of a list of that many slots, which lies in one piece.
    BARMAP_DEVICE word begin_of(unsigned slots) const {
        unsigned const left =
            kernel_queue::slots - static_cast<unsigned>(position_ % kernel_queue::slots);
        return slots <= left ? position_ : position_ + left;
    }
    BARMAP_DEVICE status wait_for_room(unsigned slots, word nanoseconds) {
        unsigned const needed = static_cast<unsigned>(begin_of(slots) - position_) + slots;
        if (free_ < needed) {
            status const room = poll(
                [&] {
                    find_room();
                    return free_ >= needed;
                },
                nanoseconds, status::full);
            if (room != status::ok)
                return room;
        }
        free_ -= needed;
        return status::ok;
    }
    BARMAP_DEVICE void find_room() {
        done_ = load_done();
        free_ = kernel_queue::slots - in_flight();
    }
    BARMAP_DEVICE unsigned in_flight() const { return commands::low(position_) - done_; }

    status opened_;
    word position_ = 0, entries_ = 0; ///< as in kernel_queue_state
    unsigned done_ = 0;               ///< the lower half of the last ticket known to be done
    unsigned free_ = 0;               ///< slots, at least
};

} // namespace gpu
} // namespace barmap
