// SPDX-License-Identifier: MIT
// The kernels of kernel_queue_soak_test, as packaging/make_ptx.cmake compiles them. Blocks of
// soak::threads_of_block threads.
#include "kernel_block.cuh"
#include "soak_lists.hpp"

#include <barmap/gpu/kernel_queue.cuh>

using namespace barmap::gpu_test;
namespace gpu = barmap::gpu;
using gpu::status;
using gpu::word;
using soak::list;
using soak::report;

#define KERNEL_OF_A_BLOCK extern "C" BARMAP_KERNEL __attribute__((launch_bounds(512))) void
static_assert(soak::threads_of_block == 512);

namespace {

constexpr word patience = 20'000'000'000; // ns
constexpr unsigned warp = 32;

__device__ void add(report* sum, report const& mine) {
    add_if_any(&sum->pieces, mine.pieces);
    add_if_any(&sum->bytes, mine.bytes);
    add_if_any(&sum->wrong, mine.wrong);
    add_if_any(&sum->stray, mine.stray);
    if (mine.is_first != 0 && gpu::replace(&sum->is_first, 0, 1)) {
        sum->queue = mine.queue;
        sum->number = mine.number;
        sum->at = mine.at;
        sum->seen = mine.seen;
        sum->expected = mine.expected;
    }
}

__device__ list list_of(soak::task const& task, unsigned round) {
    return soak::list_of(task.where, task.seed, block(), task.first + round);
}

/// What the first warp of a block does: it submits the lists of the block's queue and waits for
/// them.
class submitter {
public:
    __device__ explicit submitter(soak::task const& task)
        : task_(task), copies_(task.queues[block()], static_cast<gpu::fence_scope>(task.scope)) {}

    /// Whether a round's list has been copied, and been checked if that is the CPU's work. The
    /// next one may be in flight then.
    __device__ bool is_ready(unsigned round) {
        list const now = list_of(task_, round);
        status found = status::ok;
        word ticket = next_;
        if (!is_submitted_)
            found = submit(now, ticket);
        is_submitted_ = false;
        if (found == status::ok && round + 1 < task_.rounds) {
            list const next = list_of(task_, round + 1);
            if (next.overlaps) {
                found = submit(next, next_);
                is_submitted_ = true;
                for (unsigned i = 0; i < next.empty_lists && found == status::ok; ++i)
                    found = submit_nothing(next.empty_pieces);
            }
        }
        if (found == status::ok)
            found = copies_.wait(ticket, patience);
        if (found == status::ok && now.is_for_cpu)
            found = wait_for_cpu(round);
        if (found != status::ok && gpu::detail::lane() == 0)
            gpu::store_relaxed(&task_.found->status, static_cast<word>(found));
        return found == status::ok;
    }

private:
    __device__ status submit(list const& of, word& ticket) {
        gpu::copy_signal const signal = {
            of.is_for_cpu ? reinterpret_cast<word>(&task_.signals[block()].value) : 0,
            of.number + 1};
        unsigned begin = 0;
        for (unsigned part = 1; part <= of.submissions; ++part) {
            unsigned const end = of.count * part / of.submissions;
            status const found = copies_.submit(
                end - begin, [&of, begin](unsigned i) { return soak::piece_of(of, begin + i); },
                ticket, part == of.submissions ? signal : gpu::copy_signal{0, 0, 0}, patience);
            if (found != status::ok)
                return found;
            begin = end;
        }
        return status::ok;
    }
    __device__ status submit_nothing(unsigned pieces) {
        word ticket = 0;
        return copies_.submit(
            pieces,
            [](unsigned) {
                return gpu::copy_piece{0, 0, 0};
            },
            ticket, gpu::copy_signal{0, 0, 0}, patience);
    }
    __device__ status wait_for_cpu(unsigned round) const {
        unsigned const* const answer = &task_.answers[block()].value;
        word const begin = gpu::nanoseconds_now();
        // It may have answered the next one as well.
        while (gpu::detail::any_lane(gpu::detail::load_acquire_32(answer) <= task_.first + round))
            if (gpu::detail::any_lane(gpu::nanoseconds_now() - begin > patience))
                return status::timed_out;
        return status::ok;
    }

    soak::task const& task_;
    gpu::warp_submitter copies_;
    word next_ = 0; ///< ticket of the next list if it is submitted
    bool is_submitted_ = false;
};

/// What all threads of a block do: they check each list when it is done. The first warp says when.
template <class IsReady>
__device__ void check_rounds(soak::task const& task, IsReady const& is_ready) {
    report found{};
    bool is_right = true;
    for (unsigned round = 0; is_right && round < task.rounds; ++round) {
        is_right = all_of_block(is_ready(round));
        list const of = list_of(task, round);
        if (is_right && !of.is_for_cpu)
            soak::check(of, thread(), threads(), found);
        if (thread() == 0 && is_right && !of.is_for_cpu)
            found.pieces += of.count;
        // Of what is not this GPU's memory, a submission with fence_scope::device does not do that.
        if (of.is_to_host && task.scope == static_cast<int>(gpu::fence_scope::device))
            gpu::fence_system();
        all_of_block(true); // all of the region is poison again
    }
    for (unsigned i = 0; is_right && i < 2 * soak::regions_of_queue; ++i) {
        word const region = word{block()} * soak::regions_of_queue + i / 2;
        word const memory = i % 2 == 0 ? task.where.to_gpu : task.where.to_host;
        soak::check(soak::nothing_in(memory + region * soak::region_bytes), thread(), threads(),
                    found);
    }
    add(task.found, found);
}

} // namespace

// Each block submits lists to its queue and checks every byte of them as soon as they are done.
KERNEL_OF_A_BLOCK barmap_soak(soak::task task) {
    if (thread() < warp) {
        submitter of_block(task);
        check_rounds(task, [&](unsigned round) { return of_block.is_ready(round); });
    } else {
        check_rounds(task, [](unsigned) { return true; });
    }
}

// Writes the next list of a graph, which has one block of this kernel, and its number.
KERNEL_OF_A_BLOCK barmap_soak_table(soak::memory where, word seed, unsigned queue, unsigned* number,
                                    gpu::copy_piece* pieces, word* count) {
    unsigned const next = *number + 1;
    list const of = soak::list_of(where, seed, queue, next);
    for (unsigned i = thread(); i < of.count; i += threads())
        pieces[i] = soak::piece_of(of, i);
    all_of_block(true); // all have read the number
    if (thread() == 0) {
        *count = of.count;
        *number = next;
    }
}

// Checks that list, by many blocks.
KERNEL_OF_A_BLOCK barmap_soak_check(soak::memory where, word seed, unsigned queue,
                                    unsigned const* number, report* sum) {
    list const of = soak::list_of(where, seed, queue, *number);
    report found{};
    soak::check(of, block() * threads() + thread(), blocks() * threads(), found);
    if (block() == 0 && thread() == 0)
        found.pieces = of.count;
    add(sum, found);
}

// Fills a pool.
KERNEL_OF_A_BLOCK barmap_soak_fill(unsigned* pool, unsigned salt) {
    for (unsigned i = block() * threads() + thread(); i < soak::pool_bytes / 4;
         i += blocks() * threads())
        pool[i] = soak::pattern_word(salt, i);
}
