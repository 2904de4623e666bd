// SPDX-License-Identifier: MIT
/// The argument by which kernels use a barmap::kernel_queue, and the common part of both forms of
/// submission to it.
/// Compiles as <barmap/gpu/words.cuh>, but not for HIP.
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

/// A word that a submission sets once its bytes, and those of the queue's earlier submissions, are
/// visible wherever the word is read.
struct copy_signal {
    word address;   ///< memory as of a piece, aligned to the word's size; 0: none
    word value;     ///< stored with one store
    unsigned bytes; ///< 4 or 8, the word's size; 0: 4
};

/// The memory whose earlier accesses a submission comes after.
enum class fence_scope {
    system, ///< all that the warp has written or seen, wherever it lies
    device  ///< only data in this GPU's memory; saves 0.6 us (H200)
};

/// The state that submissions leave in the queue's memory for the next kernel.
struct kernel_queue_state {
    word position; ///< slots of the ring of commands since the beginning
    word entries;  ///< of the GPFIFO since the beginning
    word holder;   ///< 1 while a warp has the queue
    word failed;   ///< 1 when the channel has stopped; set by the CPU
    word refused;  ///< the status of a list that was not copied whole, of submit_and_wait()
};

struct kernel_queue_sharing;

/// A queue of barmap::kernel_queue, as kernels take it, by value or by pointer. Its commands lie in
/// a ring of slots: a ticket is the position behind those of its submission, counted since the
/// beginning, and the semaphore holds the lower half of the last one that is done.
struct kernel_queue {
    static constexpr unsigned layout_number = 1;
    static constexpr unsigned most_pieces = 4096;     ///< of a submission
    static constexpr word most_bytes = word(1) << 30; ///< of a piece
    static constexpr unsigned gpfifo_entries = 1024;
    static constexpr unsigned slots = 32768;
    static constexpr unsigned words_of_slot = 8;

    unsigned layout; ///< layout_number of the library that made it
    unsigned token;  ///< for the doorbell
    unsigned* doorbell;
    unsigned* put;         ///< GP_PUT
    word* entries;         ///< the GPFIFO
    unsigned* commands;    ///< the ring, aligned to 32 bytes
    word commands_address; ///< as the engine knows it
    unsigned* semaphore;
    word semaphore_address;
    kernel_queue_state* state;
    kernel_queue_sharing* sharing; ///< of the shared form; null: one warp at a time
    word most_signal_bytes;        ///< 8, or 4 on GPUs before GA10x
    word reserved[5];
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

/// The queue as both forms of submission use it.
class queue_user {
public:
    queue_user(queue_user const&) = delete;
    queue_user& operator=(queue_user const&) = delete;

protected:
    BARMAP_DEVICE queue_user(kernel_queue const& queue, fence_scope scope)
        : queue_(queue), scope_(scope), lane_(detail::lane()) {}

    /// Keeps the argument's members in registers: the compiler would load them from constant memory
    /// again behind each fence. @param zero a 0 that the compiler does not know
    BARMAP_DEVICE void keep_in_registers(word zero) {
        keep(queue_.doorbell, zero);
        keep(queue_.put, zero);
        keep(queue_.entries, zero);
        keep(queue_.commands, zero);
        keep(queue_.semaphore, zero);
        queue_.commands_address += zero;
        queue_.semaphore_address += zero;
        queue_.token += static_cast<unsigned>(zero);
        lane_ += static_cast<unsigned>(zero);
    }
    template <class Pointed>
    BARMAP_DEVICE static void keep(Pointed*& pointer, word zero) {
        pointer = reinterpret_cast<Pointed*>(reinterpret_cast<word>(pointer) + zero);
    }
    /// Number of this lane in its warp, masked so that the compiler knows its range.
    BARMAP_DEVICE unsigned lane() const { return lane_ & (lanes() - 1); }
    BARMAP_DEVICE void fence() const {
        if (scope_ == fence_scope::system)
            fence_system();
        else
            fence_device();
    }
    BARMAP_DEVICE bool has_failed() const {
        return of_first_lane(load_relaxed(&queue_.state->failed)) != 0;
    }
    /// Polls until the condition, which is equal in all lanes, holds.
    /// @return ok; `nothing` or timed_out; failed if the channel has stopped
    template <class Condition>
    BARMAP_DEVICE status poll(Condition const& condition, word nanoseconds, status nothing) const {
        for (time_limit limit(nanoseconds);;) {
            if (condition())
                return status::ok;
            if (limit.polls_again())
                continue;
            if (has_failed())
                return status::failed;
            if (any_lane(limit.is_over()))
                return limit.without(nothing);
        }
    }
    /// The lower half of the last ticket that is done. If one lane sees a ticket, all see it.
    BARMAP_DEVICE unsigned load_done() const {
        unsigned const done =
            static_cast<unsigned>(of_first_lane(load_acquire_32(queue_.semaphore)));
        join_lanes();
        return done;
    }

    BARMAP_DEVICE bool is_allowed(unsigned count, copy_signal const& signal) const {
        unsigned const bytes = bytes_of(signal);
        return count <= kernel_queue::most_pieces &&
               (signal.address == 0 || ((bytes == 4 || bytes == 8) && signal.address % bytes == 0 &&
                                        bytes <= queue_.most_signal_bytes));
    }
    BARMAP_DEVICE static unsigned bytes_of(copy_signal const& signal) {
        return signal.bytes == 0 ? 4 : signal.bytes;
    }

    /// The bytes that the engine copies for a piece: none for one that is too long.
    BARMAP_DEVICE static unsigned length_of(copy_piece const& piece) {
        return piece.bytes <= kernel_queue::most_bytes ? static_cast<unsigned>(piece.bytes) : 0;
    }
    /// A slot that copies `bytes` of a piece. @param flags of LAUNCH_DMA; if they say nothing of a
    /// copy, the engine makes none, and ignores the addresses (198,397 slots on H200, 580.159.04)
    BARMAP_DEVICE static void put_copy(unsigned* to, copy_piece const& piece, unsigned bytes,
                                       unsigned flags) {
        using namespace commands;
        store_four(to, methods(copy_subchannel, method_line_length, 1), bytes,
                   methods(copy_subchannel, method_offset_in, 4), high(piece.from));
        store_four(to + 4, low(piece.from), high(piece.to), low(piece.to),
                   immediate_method(copy_subchannel, method_launch_dma, launch_linear | flags));
    }
    /// Four words that name a semaphore of 4 bytes.
    BARMAP_DEVICE static void put_semaphore(unsigned* to, word address, unsigned value) {
        using namespace commands;
        store_four(to, methods(copy_subchannel, method_set_semaphore, 3), high(address),
                   low(address), value);
    }
    /// A slot that sets a signal when all before is copied.
    BARMAP_DEVICE static void put_signal(unsigned* to, copy_signal const& signal) {
        using namespace commands;
        constexpr unsigned launch = launch_linear | launch_flush | launch_semaphore;
        unsigned const nothing = immediate_method(copy_subchannel, method_nop, 0);
        if (bytes_of(signal) == 4) {
            put_semaphore(to, signal.address, low(signal.value));
            store_four(to + 4, immediate_method(copy_subchannel, method_launch_dma, launch),
                       nothing, nothing, nothing);
        } else {
            store_four(to, methods(copy_subchannel, method_set_semaphore, 4), high(signal.address),
                       low(signal.address), low(signal.value));
            store_four(to + 4, high(signal.value), methods(copy_subchannel, method_launch_dma, 1),
                       launch | launch_semaphore_of_8, nothing);
        }
    }
    /// Sets the queue's semaphore when all before is copied. @return where its words end
    BARMAP_DEVICE unsigned* put_release(unsigned* to, word ticket) const {
        using namespace commands;
        put_semaphore(to, queue_.semaphore_address, low(ticket));
        to[4] = immediate_method(copy_subchannel, method_launch_dma,
                                 launch_linear | launch_flush | launch_semaphore);
        return to + 5;
    }

    /// An entry of the GPFIFO with the words [from, to), which lie `words` behind `address`.
    BARMAP_DEVICE void put_entry(word number, word address, unsigned words) const {
        store_relaxed(queue_.entries + number % kernel_queue::gpfifo_entries,
                      commands::gpfifo_entry(address, words));
    }
    /// Lets the engine execute the entries. @param entries how many there are since the beginning
    BARMAP_DEVICE void publish(word entries) const {
        // The engine reads entries as soon as GP_PUT says so: without this fence the channel hung
        // (H200, 580.159.04).
        fence();
        join_lanes();
        if (lane() == 0) {
            store_relaxed_32(queue_.put,
                             static_cast<unsigned>(entries % kernel_queue::gpfifo_entries));
            fence();
            store_relaxed_32(queue_.doorbell, queue_.token);
        }
        join_lanes();
    }

    kernel_queue queue_;
    fence_scope scope_;
    unsigned lane_; ///< read when this is made
};

} // namespace detail

} // namespace gpu
} // namespace barmap
