// SPDX-License-Identifier: MIT
// The kernels of kernel_channel_test and kernel_queue_order_test, as packaging/make_ptx.cmake
// compiles them.
#include "kernel_block.cuh"

#include <barmap/gpu/kernel_queue.cuh>
#include <barmap/gpu/shared_queue.cuh>

using namespace barmap::gpu_test;
namespace gpu = barmap::gpu;
using gpu::status;
using gpu::word;

namespace {

constexpr word patience = 1'000'000'000; // ns
constexpr unsigned warp = 32;

/// For a whole warp: polls until it is true for all lanes, or the time is over.
template <class IsThere>
__device__ bool wait_until(IsThere const& is_there) {
    word const begin = gpu::nanoseconds_now();
    while (gpu::detail::any_lane(!is_there()))
        if (gpu::detail::any_lane(gpu::nanoseconds_now() - begin > patience))
            return false;
    return true;
}

/// What word `i` is in a round.
__device__ unsigned number_of(unsigned round, unsigned i) {
    return round * 0x9e3779b1u + i;
}

/// A list that copies words in `count` pieces.
struct words_in_pieces {
    unsigned* to;
    unsigned const* from;
    unsigned words, count;
    __device__ gpu::copy_piece operator()(unsigned i) const {
        unsigned const each = words / count;
        return {reinterpret_cast<word>(to + i * each), reinterpret_cast<word>(from + i * each),
                each * word{4}};
    }
};

/// What a submission of these pieces says.
__device__ status status_of(gpu::copy_piece const* pieces, unsigned count) {
    bool is_too_long = false;
    for (unsigned i = gpu::detail::lane(); i < count; i += gpu::detail::lanes())
        is_too_long |= pieces[i].bytes > gpu::kernel_queue::most_bytes;
    return gpu::detail::any_lane(is_too_long) ? status::invalid_piece : status::ok;
}

} // namespace

// Submits lists of a table, with up to `depth` in flight, 4 at most, and counts what failed. Of one
// warp.
extern "C" BARMAP_KERNEL void barmap_test_lists(gpu::kernel_queue queue,
                                                gpu::copy_piece const* pieces, unsigned lists,
                                                unsigned count, unsigned depth, int scope,
                                                word* failures) {
    gpu::warp_submitter copies(queue, static_cast<gpu::fence_scope>(scope));
    word tickets[4] = {0, 0, 0, 0}, ticket = 0; // the last ones
    bool is_right = true;
    for (unsigned list = 0; list < lists && is_right; ++list) {
        gpu::copy_piece const* const of_list = pieces + static_cast<word>(list) * count;
        is_right = copies.wait(tickets[list % depth], patience) == status::ok &&
                   copies.submit(
                       count, [=](unsigned i) { return of_list[i]; }, ticket,
                       gpu::copy_signal{0, 0, 0}, patience) == status_of(of_list, count);
        tickets[list % depth] = ticket;
    }
    is_right = copies.wait(ticket, patience) == status::ok && is_right;
    if (!is_right && gpu::detail::lane() == 0)
        gpu::add(failures, 1);
}

// Writes a number to every word, has them copied with a signal, and again: a reader, which waits
// for the signal, must never see an older number. It answers by `seen`. Of one warp.
extern "C" BARMAP_KERNEL void barmap_test_signals(gpu::kernel_queue queue, unsigned* source,
                                                  unsigned* copy, unsigned words, word signal,
                                                  unsigned const* seen, unsigned rounds,
                                                  word* failures) {
    gpu::warp_submitter copies(queue);
    bool is_right = true;
    for (unsigned round = 1; round <= rounds && is_right; ++round) {
        words_in_pieces const list = {copy, source, words, round % 2 != 0 ? 16u : 1u};
        for (unsigned i = gpu::detail::lane(); i < words; i += gpu::detail::lanes())
            source[i] = round;
        word ticket = 0;
        is_right = copies.submit(list.count, list, ticket, gpu::copy_signal{signal, round, 4},
                                 patience) == status::ok &&
                   wait_until([=] { return gpu::detail::load_acquire_32(seen) >= round; });
    }
    if (!is_right && gpu::detail::lane() == 0)
        gpu::add(failures, 1);
}

// A reader of them on the GPU. Of one warp.
extern "C" BARMAP_KERNEL void barmap_test_signal_reader(unsigned const* signal,
                                                        unsigned const* copy, unsigned words,
                                                        unsigned* seen, unsigned rounds,
                                                        word* wrong, word* failures) {
    word stale = 0;
    bool is_right = true;
    for (unsigned round = 1; round <= rounds && is_right; ++round) {
        is_right = wait_until([=] { return gpu::detail::load_acquire_32(signal) >= round; });
        for (unsigned i = gpu::detail::lane(); i < words; i += gpu::detail::lanes())
            stale += copy[i] != round;
        gpu::detail::join_lanes();
        gpu::fence_system();
        if (gpu::detail::lane() == 0)
            gpu::detail::store_relaxed_32(seen, round);
    }
    add_if_any(wrong, stale);
    if (!is_right && gpu::detail::lane() == 0)
        gpu::add(failures, 1);
}

// The same for one round, of a stream that has waited for the signal. Of one block.
extern "C" BARMAP_KERNEL void barmap_test_words_are(unsigned const* copy, unsigned words,
                                                    unsigned* seen, unsigned round, word* wrong) {
    word stale = 0;
    for (unsigned i = thread(); i < words; i += threads())
        stale += copy[i] != round;
    add_if_any(wrong, stale);
    all_of_block(true);
    gpu::fence_system();
    if (thread() == 0)
        gpu::detail::store_relaxed_32(seen, round);
}

// The first warp has copied what all other threads write: those of its block, which it meets at a
// barrier, and those of other blocks, of which it learns by an acquire. They begin a round when
// `go` says so, and add to `arrived`. All blocks have to run at the same time.
extern "C" BARMAP_KERNEL void barmap_test_words_of_others(gpu::kernel_queue queue, int scope,
                                                          unsigned* source, unsigned* copy,
                                                          unsigned words, word* go, word* arrived,
                                                          unsigned rounds, word* wrong,
                                                          word* failures) {
    unsigned const writers = blocks() * threads() - warp;
    auto const write = [=](unsigned round) {
        for (unsigned i = block() * threads() + thread() - warp; i < words; i += writers)
            source[i] = number_of(round, i);
    };
    word stale = 0;
    bool is_right = true;
    // Of the first block: `begin` and `submit` are what its first warp does.
    auto const check_rounds = [&](auto const& begin, auto const& submit) {
        for (unsigned round = 1; round <= rounds && is_right; ++round) {
            is_right = all_of_block(begin(round)); // others of the block write after this
            if (thread() >= warp)
                write(round);
            all_of_block(true); // what they have written, the first warp submits at once
            is_right = all_of_block(submit(round)) && is_right;
            for (unsigned i = thread(); i < words && is_right; i += threads())
                stale += copy[i] != number_of(round, i);
        }
    };
    if (block() != 0) {
        for (unsigned round = 1; round <= rounds && is_right; ++round) {
            is_right = all_of_block(thread() >= warp ||
                                    wait_until([=] { return gpu::load_acquire(go) >= round; }));
            write(round);
            all_of_block(true);
            if (thread() == 0)
                gpu::add(arrived, 1);
        }
    } else if (thread() >= warp) {
        check_rounds([](unsigned) { return true; }, [](unsigned) { return true; });
    } else {
        gpu::warp_submitter copies(queue, static_cast<gpu::fence_scope>(scope));
        // One lane sees it, each in its turn.
        auto const have_arrived = [=](unsigned round) {
            word const all = word{round} * (blocks() - 1);
            return wait_until([=] {
                return gpu::detail::lane() != round % warp || gpu::load_acquire(arrived) >= all;
            });
        };
        // In every other round the other blocks are the last to write.
        check_rounds(
            [=](unsigned round) {
                if (gpu::detail::lane() == 0)
                    gpu::store_release(go, round);
                return round % 2 != 0 || have_arrived(round);
            },
            [&](unsigned round) {
                words_in_pieces const list = {copy, source, words, round / 2 % 2 != 0 ? 64u : 1u};
                word ticket = 0;
                return (round % 2 == 0 || have_arrived(round)) &&
                       copies.submit(list.count, list, ticket, gpu::copy_signal{0, 0, 0},
                                     patience) == status::ok &&
                       copies.wait(ticket, patience) == status::ok;
            });
    }
    add_if_any(wrong, stale);
    if (!is_right && thread() == 0)
        gpu::add(failures, 1);
}

// Writes words, has them copied by one list, and from there by the next. Of one warp.
extern "C" BARMAP_KERNEL void barmap_test_chains(gpu::kernel_queue queue, unsigned* source,
                                                 unsigned* between, unsigned* copy, unsigned words,
                                                 unsigned rounds, word* wrong, word* failures) {
    gpu::warp_submitter copies(queue);
    word stale = 0;
    bool is_right = true;
    for (unsigned round = 1; round <= rounds && is_right; ++round) {
        for (unsigned i = gpu::detail::lane(); i < words; i += gpu::detail::lanes())
            source[i] = number_of(round, i);
        // The last bytes of the first list are read first. Every other list begins with a piece of
        // no bytes, which has to wait as well.
        unsigned const none = round % 2;
        words_in_pieces const first = {between, source, words, round / 2 % 2 != 0 ? 16u : 1u};
        words_in_pieces const second = {copy, between, words, round % 8 < 4 ? 32u : 1u};
        auto const backwards = [=](unsigned i) {
            return i < none ? gpu::copy_piece{0, 0, 0} : second(second.count - 1 - (i - none));
        };
        word ticket = 0;
        is_right = copies.submit(first.count, first, ticket, gpu::copy_signal{0, 0, 0}, patience) ==
                       status::ok &&
                   copies.submit(second.count + none, backwards, ticket, gpu::copy_signal{0, 0, 0},
                                 patience) == status::ok &&
                   copies.wait(ticket, patience) == status::ok;
        for (unsigned i = gpu::detail::lane(); i < words && is_right; i += gpu::detail::lanes())
            stale += copy[i] != number_of(round, i);
    }
    add_if_any(wrong, stale);
    if (!is_right && gpu::detail::lane() == 0)
        gpu::add(failures, 1);
}

// Submits a long list and dies.
extern "C" BARMAP_KERNEL void barmap_test_trap(gpu::kernel_queue queue, word from, word to) {
    gpu::warp_submitter copies(queue);
    word ticket = 0;
    (void)copies.submit(
        gpu::kernel_queue::most_pieces,
        [=](unsigned i) {
            return gpu::copy_piece{to + i % 256 * 4096, from + i % 256 * 4096, 4096};
        },
        ticket, gpu::copy_signal{0, 0, 0}, patience);
    asm volatile("trap;");
}

// Each block, of one warp, submits its lists of a table to a queue that all of them share, one
// after another, and counts what failed. The last one sets a word of 8 bytes of its own.
extern "C" BARMAP_KERNEL void barmap_test_shared(gpu::kernel_queue queue,
                                                 gpu::copy_piece const* pieces, unsigned lists,
                                                 unsigned count, int scope, word signals,
                                                 word* failures) {
    gpu::shared_submitter copies(queue, static_cast<gpu::fence_scope>(scope));
    unsigned const mine = block();
    bool is_right = true;
    for (unsigned list = 0; list < lists && is_right; ++list) {
        gpu::copy_piece const* const of_list =
            pieces + (static_cast<word>(mine) * lists + list) * count;
        bool const is_last = list + 1 == lists;
        word ticket = 0;
        is_right = copies.submit(
                       count, [=](unsigned i) { return of_list[i]; }, ticket,
                       gpu::copy_signal{is_last ? signals + mine * 8 : 0, ~word(mine), 8},
                       patience) == status_of(of_list, count) &&
                   copies.wait(ticket, patience) == status::ok;
    }
    if (!is_right && gpu::detail::lane() == 0)
        gpu::add(failures, 1);
}
