// SPDX-License-Identifier: MIT
/// Operations of all lanes of a warp together. Compiles as <barmap/gpu/words.cuh>, but not for HIP,
/// whose wavefronts differ. On the CPU a warp has one lane.
#pragma once

#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {

namespace detail {

constexpr unsigned all_lanes = 0xffffffff;

/// Number of this lane in its warp; a CPU thread is a warp of one lane.
BARMAP_DEVICE unsigned lane() {
#if defined(BARMAP_ON_CUDA)
    unsigned result;
    asm("mov.u32 %0, %%laneid;" : "=r"(result));
    return result;
#else
    return 0;
#endif
}

BARMAP_DEVICE unsigned lanes() {
#if defined(BARMAP_ON_CUDA)
    return 32;
#else
    return 1;
#endif
}

/// How many lanes are ready, counted from the first one to the first that is not.
BARMAP_DEVICE unsigned ready_lanes(bool is_ready) {
#if defined(BARMAP_ON_CUDA)
    unsigned ready;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                 : "=r"(ready)
                 : "r"(static_cast<unsigned>(is_ready)), "r"(all_lanes)
                 : "memory");
    unsigned first_zero;
    asm("{ .reg .b32 r; brev.b32 r, %1; bfind.shiftamt.u32 %0, r; }"
        : "=r"(first_zero)
        : "r"(~ready));
    return first_zero > 32 ? 32 : first_zero;
#else
    return is_ready ? 1 : 0;
#endif
}

/// Whether any lane's value is true.
BARMAP_DEVICE bool any_lane(bool value) {
#if defined(BARMAP_ON_CUDA)
    unsigned any;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.any.pred p, p, %2; "
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(any)
                 : "r"(static_cast<unsigned>(value)), "r"(all_lanes)
                 : "memory");
    return any != 0;
#else
    return value;
#endif
}

/// The first lane's value, in all lanes.
BARMAP_DEVICE word of_first_lane(word value) {
#if defined(BARMAP_ON_CUDA)
    unsigned low = static_cast<unsigned>(value), high = static_cast<unsigned>(value >> 32);
    asm volatile("shfl.sync.idx.b32 %0, %0, 0, 31, %2;\n\tshfl.sync.idx.b32 %1, %1, 0, 31, %2;"
                 : "+r"(low), "+r"(high)
                 : "r"(all_lanes)
                 : "memory");
    return static_cast<word>(high) << 32 | low;
#else
    return value;
#endif
}

/// Orders what each lane has loaded and stored before what any lane loads and stores later.
BARMAP_DEVICE void join_lanes() {
#if defined(BARMAP_ON_CUDA)
    asm volatile("bar.warp.sync %0;" : : "r"(all_lanes) : "memory");
#endif
}

} // namespace detail

} // namespace gpu
} // namespace barmap
