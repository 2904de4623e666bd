// SPDX-License-Identifier: MIT
/// The form of <barmap/gpu/kernel_queue.cuh> for warps that submit to one queue at the same time,
/// of any blocks and kernels of its GPU. Compiles as that header.
///
///     __global__ void send(gpu::kernel_queue queue, gpu::copy_piece const* pieces) {
///         gpu::shared_submitter copies(queue); // each warp has its own
///         gpu::word ticket;
///         copies.submit(1, [&](unsigned) { return pieces[blockIdx.x]; }, ticket);
///         copies.wait(ticket, 1000000000);
///     }
#pragma once

#include <barmap/gpu/queue_handle.cuh>

namespace barmap {
namespace gpu {

/// The state that the warps share which submit to a queue at the same time. They take slots, write
/// them, and mark them as ready; one warp at a time hands all ready slots to the engine, as a
/// group.
struct kernel_queue_sharing {
    static constexpr unsigned most_groups = 256; ///< in flight, each with two entries
    static_assert(2 * most_groups < kernel_queue::gpfifo_entries, "the GPFIFO has room for them");

    // A word that many warps change has a line of the cache to itself.
    word taken; ///< the position up to which slots are taken
    word none_0[15];
    word arrivals; ///< how many submissions no warp has served yet
    word none_1[15];
    word handed; ///< the position up to which the engine has got them
    word groups; ///< since the beginning
    word none_2[14];
    word ends[most_groups]; ///< the positions behind the last groups
    unsigned releases[most_groups * kernel_queue::words_of_slot]; ///< their last commands
    unsigned char ready[kernel_queue::slots]; ///< see shared_submitter::mark_of()
};

namespace detail {

BARMAP_DEVICE void store_relaxed_8(unsigned char* to, unsigned char value) {
#if defined(BARMAP_ON_CUDA)
    asm volatile("st.relaxed.sys.u8 [%0], %1;"
                 :
                 : "l"(to), "r"(static_cast<unsigned>(value))
                 : "memory");
#else
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
#endif
}

BARMAP_DEVICE unsigned char load_relaxed_8(unsigned char const* from) {
#if defined(BARMAP_ON_CUDA)
    unsigned value;
    asm volatile("ld.relaxed.sys.u8 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return static_cast<unsigned char>(value);
#else
    return __atomic_load_n(from, __ATOMIC_RELAXED);
#endif
}

} // namespace detail

/// Submits to a queue of the shared form, for a whole warp: all 32 lanes make, use and destroy it
/// together, with equal arguments. Any number of warps may have one on a queue. A submission costs
/// 2 us more than a warp_submitter's (H200), and may hand those of other warps to the engine. A
/// warp that ends inside of submit() holds up all later submissions.
class shared_submitter : private detail::queue_user {
public:
    BARMAP_DEVICE explicit shared_submitter(kernel_queue const& queue,
                                            fence_scope scope = fence_scope::system)
        : queue_user(queue, scope) {
        if (opened() != status::ok)
            return;
        keep_in_registers(load_relaxed(&queue_.state->position)); // of the private form alone
        find_done();
    }

    /// ok; invalid for a handle of another version or of the private form: then all else also
    /// returns that.
    BARMAP_DEVICE status opened() const {
        return queue_.layout == kernel_queue::layout_number && queue_.sharing ? status::ok
                                                                              : status::invalid;
    }

    /// As warp_submitter::submit(), except that submissions of the queue have no order among each
    /// other: one that must come after another waits for its ticket first.
    /// @param nanoseconds how long to wait for room. Of warps that see the same room, the last ones
    ///        wait on until the engine has copied enough
    template <class PieceOf>
    BARMAP_DEVICE status submit(unsigned count, PieceOf const& piece_of, word& ticket,
                                copy_signal const& signal = copy_signal{0, 0, 0},
                                word nanoseconds = 0) {
        if (opened() != status::ok || !is_allowed(count, signal))
            return status::invalid;
        unsigned const pieces = count == 0 && signal.address == 0 ? 1 : count;
        unsigned const slots = pieces + (signal.address != 0);
        status const room = take(slots, nanoseconds);
        if (room != status::ok)
            return room;
        word const begin = taken_ - slots;
        bool is_wrong = false;
        for (unsigned i = lane(); i < pieces; i += detail::lanes())
            is_wrong |=
                !put_piece(slot_at(begin + i), count != 0 ? piece_of(i) : copy_piece{0, 0, 0});
        if (signal.address != 0 && lane() == 0)
            put_signal(slot_at(begin + pieces), signal);
        fence();
        detail::join_lanes();
        for (unsigned i = lane(); i < slots; i += detail::lanes())
            detail::store_relaxed_8(mark_at(begin + i), mark_of(begin + i));
        detail::join_lanes();
        ticket = taken_;
        // A warp that finds no other at work serves all, until no other has come meanwhile.
        for (word served = add_arrivals(1) == 0 ? 1 : 0; served != 0;) {
            if (!hand_over())
                return status::failed;
            word const arrived = add_arrivals(word(0) - served);
            served = arrived - served;
        }
        return detail::any_lane(is_wrong) ? status::invalid_piece : status::ok;
    }

    /// As warp_submitter::done().
    BARMAP_DEVICE bool done(word ticket) {
        if (opened() != status::ok)
            return false;
        if (ticket > done_)
            find_done();
        return ticket <= done_;
    }

    /// As warp_submitter::wait().
    BARMAP_DEVICE status wait(word ticket, word nanoseconds) {
        if (opened() != status::ok)
            return status::invalid;
        return poll([&] { return done(ticket); }, nanoseconds, status::empty);
    }

private:
    static constexpr unsigned most_of_group = 1024; ///< slots: a ticket is done with its group
    static constexpr unsigned at_once = 4;          ///< marks of a lane, whose loads overlap
    static constexpr word patience = 10000000000;   ///< ns: an engine that copies is faster

    BARMAP_DEVICE unsigned* slot_at(word position) const {
        return queue_.commands + position % kernel_queue::slots * kernel_queue::words_of_slot;
    }
    BARMAP_DEVICE unsigned char* mark_at(word position) const {
        return queue_.sharing->ready + position % kernel_queue::slots;
    }
    /// The mark of a ready slot: the number of the round through the ring, from 1 on, modulo 2^8.
    BARMAP_DEVICE static unsigned char mark_of(word position) {
        return static_cast<unsigned char>(position / kernel_queue::slots + 1);
    }
    /// @return how many there were before, in all lanes
    BARMAP_DEVICE word add_arrivals(word number) const {
        word const before =
            detail::of_first_lane(lane() == 0 ? add(&queue_.sharing->arrivals, number) : 0);
        detail::join_lanes(); // what the first lane sees, all see
        return before;
    }

    /// Takes slots, up to taken_.
    BARMAP_DEVICE status take(unsigned slots, word nanoseconds) {
        if (!has_slots(slots) || taken_ - done_ >= kernel_queue_sharing::most_groups) {
            status const room = poll([&] { return finds_room(slots); }, nanoseconds, status::full);
            if (room != status::ok)
                return room;
        }
        taken_ = slots + detail::of_first_lane(
                             lane() == 0 ? add_relaxed(&queue_.sharing->taken, slots) : 0);
        return wait_for_engine([&] { return has_slots(0); });
    }
    BARMAP_DEVICE bool has_slots(unsigned more) const {
        return taken_ + more - done_ <= kernel_queue::slots;
    }
    BARMAP_DEVICE bool finds_room(unsigned slots) {
        kernel_queue_sharing const& shared = *queue_.sharing;
        taken_ = detail::of_first_lane(load_relaxed(&shared.taken));
        word const groups = detail::of_first_lane(load_relaxed(&shared.groups));
        word const before = detail::of_first_lane(
            load_relaxed(shared.ends + groups % kernel_queue_sharing::most_groups));
        find_done();
        return has_slots(slots) && before <= done_;
    }
    /// Waits for what the engine does if it copies at all; else nobody can use the queue any more.
    template <class Condition>
    BARMAP_DEVICE status wait_for_engine(Condition const& condition) {
        if (condition())
            return status::ok;
        status const waited = poll(
            [&] {
                find_done();
                return condition();
            },
            patience, status::failed);
        if (waited == status::ok)
            return status::ok;
        if (lane() == 0)
            store_relaxed(&queue_.state->failed, 1);
        return status::failed;
    }

    /// @return whether the piece is short enough; if not, it is left out
    BARMAP_DEVICE static bool put_piece(unsigned* to, copy_piece const& piece) {
        unsigned const bytes = length_of(piece);
        put_copy(to, piece, bytes, bytes != 0 ? commands::launch_pipelined : 0u);
        return piece.bytes <= kernel_queue::most_bytes;
    }

    /// Hands all slots that are ready to the engine, up to the first that is not.
    /// @return false if the channel has stopped
    BARMAP_DEVICE bool hand_over() {
        kernel_queue_sharing& shared = *queue_.sharing;
        // Only this warp changes them now.
        word begin = load_relaxed(&shared.handed), groups = load_relaxed(&shared.groups);
        word const first_entry = load_relaxed(&queue_.state->entries);
        for (;;) {
            word const most = end_of_group(begin);
            word const end = find_ready(begin, most);
            if (end == begin)
                return true;
            unsigned const group =
                static_cast<unsigned>(groups % kernel_queue_sharing::most_groups);
            // A group has a slot at least: of fewer slots there are fewer groups.
            if (begin - done_ >= kernel_queue_sharing::most_groups) {
                word const before = load_relaxed(shared.ends + group);
                if (wait_for_engine([&] { return before <= done_; }) != status::ok)
                    return false;
            }
            ++groups;
            if (lane() == 0) {
                unsigned* const release = shared.releases + group * kernel_queue::words_of_slot;
                put_entry(first_entry + 2 * groups - 2, address_of(slot_at(begin)),
                          static_cast<unsigned>(end - begin) * kernel_queue::words_of_slot);
                put_entry(first_entry + 2 * groups - 1, address_of(release),
                          static_cast<unsigned>(put_release(release, end) - release));
                store_relaxed(shared.ends + group, end);
                store_relaxed(&shared.handed, end);
                store_relaxed(&shared.groups, groups);
            }
            publish(first_entry + 2 * groups);
            if (end != most)
                return true;
            begin = end;
        }
    }
    /// Where a group that begins here ends at the latest: also at the ring's end.
    BARMAP_DEVICE static word end_of_group(word begin) {
        word const of_ring = (begin / kernel_queue::slots + 1) * kernel_queue::slots;
        return of_ring - begin < most_of_group ? of_ring : begin + most_of_group;
    }
    BARMAP_DEVICE word find_ready(word begin, word most) const {
        for (word end = begin;; end += at_once * detail::lanes()) {
            bool is_ready[at_once];
            BARMAP_UNROLL
            for (unsigned j = 0; j < at_once; ++j) {
                word const each = end + j * detail::lanes() + lane();
                is_ready[j] = each < most && detail::load_relaxed_8(mark_at(each)) == mark_of(each);
            }
            BARMAP_UNROLL
            for (unsigned j = 0; j < at_once; ++j) {
                unsigned const ready = detail::ready_lanes(is_ready[j]);
                if (ready != detail::lanes())
                    return end + j * detail::lanes() + ready;
            }
        }
    }
    /// The engine's address of words in the queue's memory, where both lie alike.
    BARMAP_DEVICE word address_of(unsigned const* command) const {
        return queue_.commands_address +
               static_cast<word>(reinterpret_cast<char const*>(command) -
                                 reinterpret_cast<char const*>(queue_.commands));
    }
    BARMAP_DEVICE void find_done() {
        // Close to each other, so that the lower half tells the whole.
        word near = load_relaxed(&queue_.sharing->handed);
        unsigned const low = load_done();
        near = detail::of_first_lane(near);
        done_ = near + static_cast<word>(
                           static_cast<long long>(static_cast<int>(low - commands::low(near))));
        if (taken_ < done_)
            taken_ = done_; // what is done was taken
    }

    word taken_ = 0; ///< the position up to which slots were taken at least
    word done_ = 0;  ///< the last ticket known to be done
};

} // namespace gpu
} // namespace barmap
