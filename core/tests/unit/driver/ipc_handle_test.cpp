// SPDX-License-Identifier: MIT
#include "driver/rm/ipc_handle.hpp"

#include <gtest/gtest.h>

namespace barmap::rm {
namespace {

TEST(ipc_handle_test, takes_little_endian_fields_from_their_offsets) {
    CUipcMemHandle handle{};
    for (unsigned char i = 0; i < 64; ++i)
        handle.reserved[i] = i;
    ipc_fields const fields = parse(handle);
    EXPECT_EQ(fields.pid, 0x0f0e0d0c0b0a0908u);
    EXPECT_EQ(fields.size, 0x1716151413121110u);
    EXPECT_EQ(fields.object_pages, 0x1b1a1918u);
    EXPECT_EQ(fields.object_offset, 0x1f1e1d1cu);
    EXPECT_EQ(fields.gpu_id, 0x23222120u);
    EXPECT_EQ(fields.client, 0x33323130u);
    EXPECT_EQ(fields.memory, 0x37363534u);
}

} // namespace
} // namespace barmap::rm
