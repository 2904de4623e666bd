// SPDX-License-Identifier: MIT
// The kernels of kernel_channel_test, as packaging/make_ptx.cmake compiles them.
#include <barmap/gpu/kernel_queue.cuh>
#include <barmap/gpu/shared_queue.cuh>

namespace gpu = barmap::gpu;
using gpu::status;
using gpu::word;

constexpr word patience = 1'000'000'000; // ns

static __device__ unsigned block() {
    unsigned result;
    asm("mov.u32 %0, %%ctaid.x;" : "=r"(result));
    return result;
}

// Submits lists of a table, with up to `depth` in flight, and counts what failed. Of one warp.
extern "C" BARMAP_KERNEL void barmap_test_lists(gpu::kernel_queue queue,
                                                gpu::copy_piece const* pieces, unsigned lists,
                                                unsigned count, unsigned depth, int scope,
                                                word* failures) {
    gpu::warp_submitter copies(queue, static_cast<gpu::fence_scope>(scope));
    word ticket = 0;
    bool is_right = true;
    for (unsigned list = 0; list < lists && is_right; ++list) {
        gpu::copy_piece const* const of_list = pieces + static_cast<word>(list) * count;
        is_right = copies.submit(
                       count, [=](unsigned i) { return of_list[i]; }, ticket,
                       gpu::copy_signal{0, 0, 0}, patience) == status::ok &&
                   copies.wait(ticket < depth ? 0 : ticket + 1 - depth, patience) == status::ok;
    }
    is_right = copies.wait(ticket, patience) == status::ok && is_right;
    if (!is_right && gpu::detail::lane() == 0)
        gpu::add(failures, 1);
}

// Writes a number to every word of a piece, has it copied with a signal, and again: the CPU, which
// waits for the signal, must never see an older number. It answers by `seen`.
extern "C" BARMAP_KERNEL void barmap_test_signals(gpu::kernel_queue queue, unsigned* source,
                                                  word destination, unsigned words, word signal,
                                                  unsigned const* seen, unsigned rounds,
                                                  word* failures) {
    gpu::warp_submitter copies(queue);
    bool is_right = true;
    for (unsigned round = 1; round <= rounds && is_right; ++round) {
        for (unsigned i = gpu::detail::lane(); i < words; i += gpu::detail::lanes())
            source[i] = round;
        word ticket = 0;
        gpu::copy_piece const piece = {destination, reinterpret_cast<word>(source), words * 4};
        is_right = copies.submit(
                       1, [=](unsigned) { return piece; }, ticket,
                       gpu::copy_signal{signal, round, 0}, patience) == status::ok;
        word const begin = gpu::nanoseconds_now();
        while (is_right && gpu::detail::any_lane(gpu::detail::load_acquire_32(seen) < round))
            is_right = !gpu::detail::any_lane(gpu::nanoseconds_now() - begin > patience);
    }
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
    unsigned const mine = ::block();
    bool is_right = true;
    for (unsigned list = 0; list < lists && is_right; ++list) {
        gpu::copy_piece const* const of_list =
            pieces + (static_cast<word>(mine) * lists + list) * count;
        bool const is_last = list + 1 == lists;
        word ticket = 0;
        is_right = copies.submit(
                       count, [=](unsigned i) { return of_list[i]; }, ticket,
                       gpu::copy_signal{is_last ? signals + mine * 8 : 0, ~word(mine), 8},
                       patience) == status::ok &&
                   copies.wait(ticket, patience) == status::ok;
    }
    if (!is_right && gpu::detail::lane() == 0)
        gpu::add(failures, 1);
}
