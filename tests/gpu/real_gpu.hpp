// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/driver_api.hpp"

#include <barmap/barmap.hpp>

#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

/// Memory of a real GPU, and the driver as the judge of what is in it.
namespace barmap::gpu_test {

constexpr std::size_t mib = std::size_t{1} << 20;

/// Skips where there is no real GPU; makes the primary context of GPU 0 current otherwise.
class real_gpu : public testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    /// Makes the primary context of a GPU current on this thread.
    void use(int ordinal);

    static cuda::driver_api const& cu() { return cuda::api(); }
    static int count();

private:
    std::vector<int> retained_;
};

void expect_success(CUresult result);

/// Of this process.
[[nodiscard]] std::size_t open_descriptors();

/// How often a test repeats itself: ENGINE_TEST_ROUNDS times as often, for a long run.
[[nodiscard]] std::size_t rounds(std::size_t usual);

/// cuMemAlloc memory on the current context's GPU.
class device_block {
public:
    explicit device_block(std::size_t bytes);
    device_block(device_block const&) = delete;
    device_block& operator=(device_block const&) = delete;
    ~device_block() { release(); }
    void release(); ///< frees it early
    [[nodiscard]] std::uintptr_t address() const { return address_; }

private:
    CUdeviceptr address_ = 0;
};

/// VMM chunks of 2 MiB in a row.
class virtual_block {
public:
    virtual_block(int ordinal, unsigned chunks, int handle_types = cuda::handle_type_posix_fd);
    virtual_block(virtual_block const&) = delete;
    virtual_block& operator=(virtual_block const&) = delete;
    ~virtual_block();
    static constexpr std::size_t chunk_size = std::size_t{2} << 20;
    [[nodiscard]] std::uintptr_t address() const { return address_; }
    [[nodiscard]] std::size_t size() const { return chunks_ * chunk_size; }

private:
    CUdeviceptr address_ = 0;
    unsigned chunks_;
};

/// Bytes that differ from place to place and from seed to seed.
[[nodiscard]] std::vector<std::byte> pattern(std::size_t bytes, unsigned seed);

/// Writes through the mapping and reads with the driver, then the other way round: every byte.
void expect_same_memory(mapping const& mapping, std::uintptr_t gpu_address, unsigned seed);

/// The code of the barmap::error that this throws; an empty code if it throws none.
template <class Action>
std::error_code code_of(Action action) {
    try {
        action();
    } catch (error const& failure) {
        EXPECT_FALSE(failure.advice().empty()) << failure.what();
        return failure.code();
    }
    return {};
}

} // namespace barmap::gpu_test
