// SPDX-License-Identifier: MIT
#pragma once

#include "base/fd.hpp"

#include <barmap/log.hpp>

#include <cstdint>
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

inline log_ring opened(log_ring const& of) {
    return log_ring::open_shared(os::fd(of.share()).get());
}

} // namespace barmap::contract
