// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/gpu/kernel_queue.cuh>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace barmap::gpu_test {

/// In each list of `count` pieces, replaces one by a piece without bytes, and in half of the lists
/// one, perhaps the same, by a piece that is too long. Their addresses are random; nothing of them
/// is copied.
inline void put_odd_pieces(std::vector<gpu::copy_piece>& lists, std::size_t count,
                           std::mt19937_64& random) {
    for (std::size_t list = 0; list < lists.size(); list += count) {
        lists[list + random() % count] = {random(), random(), 0};
        std::uint64_t const too_long = gpu::kernel_queue::most_bytes + 1 + (random() >> 1);
        if (random() % 2 != 0) // the first piece of a list differs from the others
            lists[list + (random() % 2 != 0 ? 0 : random() % count)] = {random(), random(),
                                                                        too_long};
    }
}

} // namespace barmap::gpu_test
