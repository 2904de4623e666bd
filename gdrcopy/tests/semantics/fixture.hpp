// SPDX-License-Identifier: MIT
#pragma once

#include "shared/gpu_memory.h"
#include "holdings.hpp"

#include <cerrno>
#include <cstdint>
#include <gdrapi.h>
#include <gtest/gtest.h>
#include <vector>

namespace barmap::dropin {

/// The struct of libgdrapi's first generation of gdr_get_info, and the function, which gdrapi.h
/// hides.
struct info_v1 {
    std::uint64_t va;
    std::uint64_t mapped_size;
    std::uint32_t page_size;
    std::uint64_t tm_cycles;
    std::uint32_t cycles_per_ms;
    unsigned mapped : 1;
    unsigned wc_mapping : 1;
};
static_assert(sizeof(info_v1) == 40);
int get_info_v1(gdr_t g, gdr_mh_t handle, info_v1* info);

/// A primary context and a session, with the means to make what a test needs. What a test leaves
/// pinned or allocated is given back after it.
class semantics : public ::testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    /// Device memory that holds the pattern of its seed.
    gpu_block memory(std::size_t size, unsigned seed = 1);
    void release(gpu_block const& block);

    /// A handle, or a test failure.
    gdr_mh_t pinned(std::uint64_t address, std::size_t size);
    /// The CPU address of the handle's first page, or a test failure.
    unsigned char* mapped(gdr_mh_t handle);
    gdr_info_t info_of(gdr_mh_t handle);

    /// The bytes at `cpu`, copied by the library, are the pattern; then another pattern goes back
    /// and the driver sees it at `address`.
    void expect_same_memory(gdr_mh_t handle, unsigned char* cpu, gpu_block block);

    [[nodiscard]] static bool simulated();

    cuda_driver cuda_{};
    gdr_t g_ = nullptr;

private:
    std::vector<gpu_block> blocks_;
};

/// A handle that no session has.
inline constexpr gdr_mh_t no_handle{0};

} // namespace barmap::dropin
