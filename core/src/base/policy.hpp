// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

/// The numbers by which barmap chooses who copies, in what order and in which parts; a contest's
/// bounds, but not the times that it measures. Capacities, patience, how often an engine may
/// fail, and the numbers of pygpu and of Python's pool stand where they are used. `barmap info
/// --verbose` prints the table, and BARMAP_POLICY overrules all but the fixed numbers, for tests
/// and to find a cause. Sites ask config::current().policy, libraries over the core policy_value(),
/// once for each batch, copy or mapping, never for a piece.
namespace barmap::policy {

inline constexpr std::size_t kib = 1024, mib = 1024 * kib, any = std::size_t{1} << 40;
/// The smallest part: a staging buffer has a place for each part of this size.
inline constexpr std::size_t least_part = 4 * kib;

// Each line: name, value, unit, the least and the most that BARMAP_POLICY may give, and why: the
// measurement with its machine, or the page that has it.
// clang-format off
#define BARMAP_POLICY(X)                                                                           \
    X(short_pieces, 8, "pieces", 0, 4096, "up to it, CUDA's copies delay a stream less than a channel does: docs/batches.md") \
    X(short_large_pieces, 32, "pieces", 0, 4096, "the same limit for pieces of large_piece and more: docs/batches.md") \
    X(large_piece, mib, "bytes", 1, any, "from it on, CUDA copies a piece as fast as a channel: docs/batches.md") \
    X(both_ways_batch, mib, "bytes", 1, any, "a smaller batch stays on an engine that copies the other way (H100)") \
    X(both_ways_piece, 2 * kib, "bytes", 0, any, "so does a batch of smaller pieces, where CUDA has two engines (H100)") \
    X(both_ways_piece_of_one, 16 * kib, "bytes", 0, any, "so does a batch of smaller pieces, where CUDA has one engine (H100)") \
    X(passing_bytes, 64 * kib, "bytes", 0, any, "a batch up to this and passing_pieces passes a large one (H100)") \
    X(passing_pieces, 64, "pieces", 0, 4096, "a batch up to this and passing_bytes passes a large one (H100)") \
    X(passed_times, 16, "times", 1, 1 << 20, "a batch of this many times either limit is large (H100)") \
    X(sorted_pieces, 1024, "pieces", 1, any, "a shorter list gains nothing by the order of host addresses (H100)") \
    X(sorted_piece, kib, "bytes", 0, mib, "a list of larger pieces, on average, gains nothing by that order (H100)") \
    X(sorted_parts, 32, "parts", 1, 256, "of 4 MiB: a list in 16 of them gains nothing by that order (H100)") \
    X(whole_to_cpu, 32 * kib, "bytes", 1, 2 * mib, "up to it, a staged copy to the CPU is one part (H200)") \
    X(part_to_cpu, 32 * kib, "bytes", least_part, 2 * mib, "a part of a larger copy to the CPU (H200)") \
    X(medium_to_cpu, 128 * kib, "bytes", 1, any, "beyond it, parts are of medium_part_to_cpu (H200)") \
    X(medium_part_to_cpu, 64 * kib, "bytes", least_part, 2 * mib, "a part of a copy beyond medium_to_cpu (H200)") \
    X(large_to_cpu, 512 * kib, "bytes", 1, any, "beyond it, parts are of large_part_to_cpu (H200)") \
    X(large_part_to_cpu, 128 * kib, "bytes", least_part, 2 * mib, "a part of a copy beyond large_to_cpu (H200)") \
    X(whole_to_gpu, 128 * kib, "bytes", 1, 2 * mib, "up to it, a staged copy to the GPU is one part (H200)") \
    X(part_to_gpu, 128 * kib, "bytes", least_part, 2 * mib, "a part of a larger copy to the GPU (H200)") \
    X(large_to_gpu, 512 * kib, "bytes", 1, any, "beyond it, parts are of large_part_to_gpu (H200)") \
    X(large_part_to_gpu, 256 * kib, "bytes", least_part, 2 * mib, "a part of a copy beyond large_to_gpu (H200)") \
    X(streamed_to_cpu, 2 * mib, "bytes", 0, any, "from it on, stores pass the caches; 8 MiB take 600 us, by memcpy 790 (H200)") \
    X(streamed_to_gpu, mib, "bytes", 0, any, "from it on, stores pass the caches; not measured by itself") \
    X(unpinned_age, 10, "ms", 0, 60000, "how long a thread keeps CUDA's slowest answer, that memory is not pinned") \
    X(taken_piece, 128 * kib, "bytes", 1, 1024 * mib, "up to this mean libbarmap-memcpy takes batches with the host: docs/memcpy.md") \
    X(taken_small_piece, 8 * kib, "bytes", 0, any, "up to this mean, taken_small_pieces suffice: docs/memcpy.md") \
    X(taken_busy_piece, 4 * kib, "bytes", 0, any, "up to this mean, taken_small_pieces also suffice behind other work in the stream: docs/memcpy.md") \
    X(taken_piece_inside, mib, "bytes", 1, 1024 * mib, "the mean inside a GPU; CUDA copies 4 MiB faster, by several engines (H200)") \
    X(taken_piece_between, 4 * mib, "bytes", 1, 1024 * mib, "the mean between GPUs; 4 MiB take 0.96 of CUDA's time (H200)") \
    X(taken_large_piece, 32 * kib, "bytes", 1, any, "from this mean on, CUDA is as fast as the link: docs/memcpy.md") \
    X(taken_large_batch, 16 * mib, "bytes", 0, any, "the least batch of such pieces, since order costs 10 us: docs/memcpy.md")

// Those that sizes of tables, memory or a written promise depend on: name, value, unit, why.
#define BARMAP_POLICY_FIXED(X)                                                                     \
    X(engines_from_to_gpu, 32 * kib, "bytes", "below it no engine can win: one takes 3.5 us, as stores take for 64 KiB (H200)") \
    X(engines_from_to_cpu, kib, "bytes", "below it no engine can win: one takes 3.5 us, as loads take for 3 KiB (H200)") \
    X(checked_pieces, 64, "pieces", "of a batch among several GPUs that a call checks, as batch_queue::submit promises") \
    X(taken_pieces, 64, "pieces", "with the host; libbarmap-memcpy leaves fewer to CUDA: docs/memcpy.md") \
    X(taken_small_pieces, 32, "pieces", "with the host: 16 of 4 KiB took longer than by CUDA (H200)") \
    X(taken_pieces_inside, 9, "pieces", "inside a GPU: CUDA takes 3.4 us for each (H200)")          \
    X(taken_pieces_between, 32, "pieces", "between GPUs: 16 took longer than by CUDA (H200)")      \
    X(engine_contest_end, mib, "bytes", "beyond it, the choice of method stays")                   \
    X(contest_noise, 2, "%", "of methods within this of the best, the first wins")                 \
    X(contest_hopeless, 2, "times", "a method that is this much slower than the best is tried no further") \
    X(contest_sample, 2000, "ns", "of a sample: the clock takes 25 ns, and longer samples warm the caches") \
    X(contest_long_sample, 10000, "ns", "for samples from it on, contest_long_rounds suffice")     \
    X(store_contest, 3000, "us", "for stores, in each of two passes; 1 MiB takes 43 us")           \
    X(load_contest, 2000, "us", "for loads, in each of two passes; 64 KiB take 65 us")             \
    X(engine_contest, 50000, "us", "for engines and the mapping, in each of two passes")           \
    X(contest_rounds, 9, "rounds", "of samples, whose upper quartile counts")                      \
    X(contest_long_rounds, 5, "rounds", "of samples of contest_long_sample and more")              \
    X(contest_steps, 16, "parts", "of a doubling: how exact the size is from which a method wins") \
    X(routine_contest_begin, 16, "bytes", "up to 8, every routine makes the same accesses")        \
    X(routine_contest_end, mib, "bytes", "beyond it, the link sets the rate")                      \
    X(own_queues, 3, "queues", "of a direction: batches that wait for streams hold up no others")  \
    X(passing_queues, 1, "queues", "of a direction, for batches that pass a bulk one")             \
    X(shared_engines, 2, "engines", "that CUDA also uses, for batches both ways (H100)")           \
    X(time_slice, 50, "us", "of a channel on its engine")                                          \
    X(staging_buffer, 2 * mib, "bytes", "for copies of memory that is not pinned; two of them")    \
    X(fill_piece, 4 * kib, "bytes", "a fill writes copies of it: 4 % of the time of its way to the GPU") \
    X(first_segment, 32, "pieces", "of a batch: the engine begins while the rest is written (H200)") \
    X(next_segment, 128, "pieces", "of a batch, after the first (H200)")                           \
    X(known_ranges, 64, "ranges", "of pinned memory, for which barmap keeps how an engine reaches them") \
    X(tried_batch, 64, "pieces", "of 4 KiB: CUDA's batch call against single calls, at the start")
// clang-format on

/// The value of each in this process.
struct values {
#define BARMAP_POLICY_MEMBER(name, value, ...) std::size_t name = value;
    BARMAP_POLICY(BARMAP_POLICY_MEMBER)
#undef BARMAP_POLICY_MEMBER
};

#define BARMAP_POLICY_CONSTANT(name, value, ...) inline constexpr std::size_t name = value;
BARMAP_POLICY_FIXED(BARMAP_POLICY_CONSTANT)
#undef BARMAP_POLICY_CONSTANT

/// Takes "name=value,name=value", whole numbers in the table's units.
/// @return whether each name is in the table and each value in its range; else `to` has any values
[[nodiscard]] bool take(values& to, std::string_view assignments);

} // namespace barmap::policy
