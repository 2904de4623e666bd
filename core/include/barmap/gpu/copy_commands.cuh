// SPDX-License-Identifier: MIT
/// The words that tell a copy engine of NVIDIA's GPUs what to copy, for code on either side.
/// Names and numbers are those of NVIDIA's MIT-licensed open-gpu-kernel-modules (clc86f.h,
/// clc8b5.h), which a test compares. Compiles as <barmap/gpu/words.cuh>. Not part of the API.
#pragma once

#include <barmap/gpu/words.cuh>

namespace barmap {
namespace gpu {
namespace commands {

/// An entry of the GPFIFO: this many words of methods, from this address on, of which it has the
/// lower 40 bits.
BARMAP_DEVICE constexpr word gpfifo_entry(word address, unsigned words) {
    return (address & 0xfffffffffc) | static_cast<word>(words) << 42;
}

/// From the next entry on, addresses have these bits above their lower 40.
BARMAP_DEVICE constexpr word gpfifo_extended_base(word address) {
    return address >> 40 << 8 | word(4) << 32; // SET_PB_SEGMENT_EXTENDED_BASE
}

/// The word before the values of `count` contiguous methods from `method` on.
BARMAP_DEVICE constexpr unsigned methods(unsigned subchannel, unsigned method, unsigned count) {
    return 1u << 29 | count << 16 | subchannel << 13 | method >> 2;
}

/// One word for a method whose value is below 2^13.
BARMAP_DEVICE constexpr unsigned immediate_method(unsigned subchannel, unsigned method,
                                                  unsigned value) {
    return 4u << 29 | value << 16 | subchannel << 13 | method >> 2;
}

BARMAP_DEVICE constexpr unsigned high(word address) {
    return static_cast<unsigned>(address >> 32);
}
BARMAP_DEVICE constexpr unsigned low(word address) {
    return static_cast<unsigned>(address);
}

constexpr unsigned copy_subchannel = 4;
constexpr unsigned method_set_object = 0x0;
constexpr unsigned method_set_semaphore = 0x240; ///< address (high, low), payload
constexpr unsigned method_semaphore_payload = 0x248;
constexpr unsigned method_nop = 0x100;
constexpr unsigned method_semaphore_payload_upper = 0x24c; ///< for semaphores of 8 bytes
constexpr unsigned method_launch_dma = 0x300;
constexpr unsigned method_offset_in = 0x400; ///< source, destination, each high, low
constexpr unsigned method_line_length = 0x418;

// LAUNCH_DMA
constexpr unsigned launch_pipelined = 1;       ///< may overlap with those before it
constexpr unsigned launch_non_pipelined = 2;   ///< begins when those before it are done
constexpr unsigned launch_flush = 1u << 2;     ///< what was written is visible before the semaphore
constexpr unsigned launch_semaphore = 1u << 3; ///< of one word
constexpr unsigned launch_semaphore_of_8 = 1u << 27;  ///< of two words, from GA10x on
constexpr unsigned launch_linear = 1u << 7 | 1u << 8; ///< both sides are plain bytes

/// USERD, a page of the channel: where the next free entry of the GPFIFO is written.
constexpr unsigned userd_gp_put = 0x8c;

} // namespace commands
} // namespace gpu
} // namespace barmap
