// SPDX-License-Identifier: MIT
/// The bodies of the kernels of step_inputs and step_outputs, which libbarmap launches: for calls
/// in your own kernels, and, with a thread in the place of the block, for the simulated GPU.
/// Compiles as <barmap/gpu/words.cuh>, but not for HIP.
#pragma once

#include <barmap/gpu/ring.cuh>

#if defined(__HIP__) || defined(__HIPCC__)
#error "barmap's steps are for CUDA: use barmap/gpu/ring.cuh"
#endif

namespace barmap {
namespace step {

/// Up to this much of a tensor, so that a warp has a word for each lane.
constexpr unsigned chunk_bytes = 256;

/// Where a part of a message belongs.
struct chunk {
    unsigned char* at;
    gpu::word word;  ///< of the message, where it begins
    gpu::word bytes; ///< up to chunk_bytes
};

/// Where a step's tensors lie, and the ring that carries them.
struct task {
    gpu::ring_handle ring;
    chunk const* chunks;
    gpu::word count;       ///< of chunks
    gpu::word words;       ///< of a message
    gpu::word nanoseconds; ///< how long to wait before giving up
    gpu::word* failures;   ///< host memory: the status of a step that has given up
};

/// Whether to continue when the time is over: never, on a GPU.
struct give_up {
    BARMAP_DEVICE bool operator()() const { return false; }
};

namespace detail {

constexpr unsigned lanes = 32;

BARMAP_DEVICE unsigned thread_in_block() {
#if defined(BARMAP_ON_CUDA)
    unsigned x, y, z, width, height;
    asm("mov.u32 %0, %%tid.x;" : "=r"(x));
    asm("mov.u32 %0, %%tid.y;" : "=r"(y));
    asm("mov.u32 %0, %%tid.z;" : "=r"(z));
    asm("mov.u32 %0, %%ntid.x;" : "=r"(width));
    asm("mov.u32 %0, %%ntid.y;" : "=r"(height));
    return x + width * (y + height * z);
#else
    return 0;
#endif
}

BARMAP_DEVICE unsigned threads_of_block() {
#if defined(BARMAP_ON_CUDA)
    unsigned width, height, depth;
    asm("mov.u32 %0, %%ntid.x;" : "=r"(width));
    asm("mov.u32 %0, %%ntid.y;" : "=r"(height));
    asm("mov.u32 %0, %%ntid.z;" : "=r"(depth));
    return width * height * depth;
#else
    return 1;
#endif
}

/// Whether all threads of the block say so. All loads and stores of each thread before the call
/// come before all those of any thread after it.
BARMAP_DEVICE bool all_of_block(bool says) {
#if defined(BARMAP_ON_CUDA)
    unsigned all;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; barrier.red.and.pred q, 0, p; "
                 "selp.u32 %0, 1, 0, q; }"
                 : "=r"(all)
                 : "r"(static_cast<unsigned>(says))
                 : "memory");
    return all != 0;
#else
    return says;
#endif
}

/// Calls `move(place, index, bytes)` for each word of each chunk, or what is left of one: a warp
/// for each chunk, so that neighbours are accessed together.
template <class Move>
BARMAP_DEVICE void for_each_word(task const& of, Move const& move) {
    unsigned const thread = thread_in_block();
    unsigned const threads = threads_of_block();
    unsigned const width = threads < lanes ? threads : lanes;
    for (gpu::word i = thread / width; i < of.count; i += threads / width) {
        chunk const each = of.chunks[i];
        for (gpu::word at = thread % width * 8; at < each.bytes; at += width * 8)
            move(each.at + at, each.word + at / 8, each.bytes - at < 8 ? each.bytes - at : 8);
    }
}

BARMAP_DEVICE bool is_whole_word(unsigned char const* place, gpu::word bytes) {
    return bytes == 8 && reinterpret_cast<gpu::word>(place) % 8 == 0;
}

/// Waits until all threads of a block say so. @return false: gave up, which the CPU then sees
template <class IsThere, class Again>
BARMAP_DEVICE bool wait_in_block(task const& of, IsThere const& is_there, Again again) {
    for (gpu::detail::time_limit limit(of.nanoseconds);;) {
        if (all_of_block(is_there()))
            return true;
        if (!limit.polls_again() && all_of_block(limit.is_over()) && !again())
            break;
    }
    if (thread_in_block() == 0)
        gpu::store_release(of.failures, static_cast<gpu::word>(gpu::status::timed_out));
    return false;
}

} // namespace detail

/// A block waits for the next message, and lays its parts into their tensors.
template <class Again>
BARMAP_DEVICE void load(task const& of, Again again) {
    using namespace gpu;
    using detail::all_of_block;
    unsigned const thread = detail::thread_in_block();
    unsigned const threads = detail::threads_of_block();
    word const number = load_relaxed(of.ring.control + ring_words::cursor);
    word const commits = gpu::detail::count_of_commits(of.words);
    word const* const slot = of.ring.slots + (number & of.ring.mask) *
                                                 gpu::detail::lines_of(of.words) *
                                                 layout_to_gpu::line_words;
    auto const has_arrived = [&] {
        bool is_there = true;
        for (word i = thread; i < commits; i += threads)
            is_there = is_there &&
                       load_acquire(slot + gpu::detail::place_of_commit(i, of.words)) == number + 1;
        return is_there;
    };
    if (!detail::wait_in_block(of, has_arrived, again))
        return;
    detail::for_each_word(of, [&](unsigned char* to, word index, word bytes) {
        word const value = load_relaxed(slot + gpu::detail::place_of_word(index, of.words));
        if (detail::is_whole_word(to, bytes))
            *reinterpret_cast<word*>(to) = value;
        else
            for (word i = 0; i < bytes; ++i)
                to[i] = static_cast<unsigned char>(value >> i * 8);
    });
    all_of_block(true); // have read theirs
    if (thread == 0) {
        store_relaxed(of.ring.control + ring_words::cursor, number + 1);
        store_release(of.ring.credits + ring_words::read, number + 1);
    }
}

/// A block waits for room, and publishes what the tensors hold as a message.
template <class Again>
BARMAP_DEVICE void store(task const& of, Again again) {
    using namespace gpu;
    using detail::all_of_block;
    unsigned const thread = detail::thread_in_block();
    word const number = load_relaxed(of.ring.credits + ring_words::next);
    auto const is_room = [&] {
        return number - load_acquire(of.ring.credits + ring_words::read) <= of.ring.mask;
    };
    if (!detail::wait_in_block(of, is_room, again))
        return;
    word const slot_words = of.words == 1 ? 2 : (of.words + 8) / 8 * 8;
    word* const slot = of.ring.slots + (number & of.ring.mask) * slot_words;
    detail::for_each_word(of, [&](unsigned char const* from, word index, word bytes) {
        word value = 0;
        if (detail::is_whole_word(from, bytes))
            value = *reinterpret_cast<word const*>(from);
        else
            for (word i = 0; i < bytes; ++i)
                value |= static_cast<word>(from[i]) << i * 8;
        if (of.words == 1)
            store_pair(slot, value, number + 1); // by one thread only
        else
            store_relaxed(slot + index, value);
    });
    all_of_block(true); // have written theirs
    if (thread == 0) {
        if (of.words != 1) {
            fence_system();
            store_release(slot + slot_words - 1, number + 1);
        }
        store_relaxed(of.ring.credits + ring_words::next, number + 1);
    }
}

} // namespace step
} // namespace barmap
