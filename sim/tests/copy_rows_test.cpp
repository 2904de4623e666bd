// SPDX-License-Identifier: MIT
#include "driver.hpp"

namespace barmap::sim_test {
namespace {

using copying_rows = with_context;

CUDA_MEMCPY2D rows(std::size_t width, std::size_t height) {
    CUDA_MEMCPY2D what{};
    what.WidthInBytes = width;
    what.Height = height;
    return what;
}

void from_host(CUDA_MEMCPY2D& what, void const* host, std::size_t pitch) {
    what.srcMemoryType = cuda::memory_type_host;
    what.srcHost = host;
    what.srcPitch = pitch;
}

void to_device(CUDA_MEMCPY2D& what, CUdeviceptr address, std::size_t pitch) {
    what.dstMemoryType = cuda::memory_type_device;
    what.dstDevice = address;
    what.dstPitch = pitch;
}

TEST_F(copying_rows, moves_these_bytes_and_no_others) {
    CUdeviceptr const memory = allocate(100);
    write(memory, std::vector<unsigned char>(100, 7));
    auto const host = pattern(60, 1);
    CUDA_MEMCPY2D what = rows(3, 5);
    from_host(what, host.data(), 10);
    what.srcXInBytes = 2;
    what.srcY = 1;
    to_device(what, memory, 20);
    what.dstXInBytes = 1;
    ASSERT_EQ(cu().memcpy_2d_unaligned(&what), cuda::success);
    auto const found = read(memory, 100);
    for (std::size_t at = 0; at < found.size(); ++at) {
        std::size_t const row = at / 20, x = at % 20;
        bool const moved = x >= 1 && x < 4;
        EXPECT_EQ(found[at], moved ? host[(row + 1) * 10 + 2 + x - 1] : 7) << at;
    }
    EXPECT_EQ(cu().mem_free(memory), cuda::success);
}

TEST_F(copying_rows, refuses_what_leaves_the_memory) {
    CUdeviceptr const memory = allocate(100);
    auto const host = pattern(100, 1);
    auto const copy = [&](std::size_t width, std::size_t height, std::size_t pitch) {
        CUDA_MEMCPY2D what = rows(width, height);
        from_host(what, host.data(), width);
        to_device(what, memory, pitch);
        return cu().memcpy_2d_unaligned(&what);
    };
    EXPECT_EQ(copy(10, 10, 10), cuda::success);
    EXPECT_EQ(copy(10, 5, 22), cuda::success); // ends at 98
    EXPECT_EQ(copy(0, 1000, 0), cuda::success);
    EXPECT_EQ(copy(10, 5, 23), cuda::error_invalid_value);
    EXPECT_EQ(copy(10, 2, 9), cuda::error_invalid_value); // the rows overlap
    CUDA_MEMCPY2D nowhere = rows(1, 1);
    from_host(nowhere, nullptr, 1);
    to_device(nowhere, memory, 1);
    EXPECT_EQ(cu().memcpy_2d_unaligned(&nowhere), cuda::error_invalid_value);
    EXPECT_EQ(cu().memcpy_2d_unaligned(nullptr), cuda::error_invalid_value);
    EXPECT_EQ(cu().mem_free(memory), cuda::success);
}

} // namespace
} // namespace barmap::sim_test
