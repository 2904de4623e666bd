// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/gpu/words.cuh>

/// What the signals of signal_test carry; for the CPU and for its kernels.
namespace barmap::gpu_test {

/// A value of several lines, each word of which follows from the first.
struct reading {
    static constexpr unsigned count = 20;
    gpu::word words[count];
};

BARMAP_DEVICE reading reading_of(gpu::word number) {
    reading result;
    for (unsigned i = 0; i < reading::count; ++i)
        result.words[i] = number + i * 0x9e3779b97f4a7c15u;
    return result;
}

BARMAP_DEVICE bool is_whole(reading const& value) {
    bool result = true;
    for (unsigned i = 0; i < reading::count; ++i)
        result &= value.words[i] == value.words[0] + i * 0x9e3779b97f4a7c15u;
    return result;
}

} // namespace barmap::gpu_test
