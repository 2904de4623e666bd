// SPDX-License-Identifier: MIT
#pragma once

#include "system/fd.hpp"

#include <barmap/log.hpp>

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

/// What tests of logs share, with threads in the place of kernels.
namespace barmap::contract {

/// A record whose values follow from one number.
inline void log_numbered(gpu::log_ring const& to, std::uint32_t i) {
    gpu::log(to, i, i * 3, i ^ 0x5a5a5a5a, ~i);
}
inline bool is_whole(log_record const& it) {
    return it.a == it.id * 3 && it.b == (it.id ^ 0x5a5a5a5a) && it.c == ~it.id;
}

inline std::vector<log_record> all_of(log_ring& from) {
    std::vector<log_record> result(from.slots() + 1);
    result.resize(from.read(result));
    return result;
}

/// That the log has these records next, ids counting from the first, and no more.
inline void expect_ids(log_ring& from, std::uint32_t first, std::uint32_t count) {
    auto const found = all_of(from);
    ASSERT_EQ(found.size(), count);
    for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(found[i].id, first + i);
        EXPECT_TRUE(is_whole(found[i]));
    }
}

/// Words of the slot of a record.
inline gpu::word* slot_of(gpu::log_ring const& in, std::uint64_t number) {
    return in.records + (number & in.mask) * gpu::log_record_words::words;
}

/// Stores one half of a record, as it comes over the link.
inline void store_half(gpu::log_ring const& to, std::uint64_t number, unsigned half) {
    gpu::word made[gpu::log_record_words::words];
    gpu::word next = number;
    alignas(16) gpu::word lines[16 * gpu::log_record_words::words] = {};
    ASSERT_LE(to.mask, 15u);
    log_numbered({lines, &next, to.mask, to.shift}, static_cast<std::uint32_t>(number));
    std::memcpy(made, lines + (number & to.mask) * gpu::log_record_words::words, sizeof made);
    gpu::store_as_one(slot_of(to, number) + 2 * half, made[2 * half], made[2 * half + 1]);
}

inline log_ring opened(log_ring const& of) {
    return log_ring::open_shared(os::fd(of.share()).get());
}

} // namespace barmap::contract
