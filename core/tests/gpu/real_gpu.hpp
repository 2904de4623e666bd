// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/driver_api.hpp"
#include "shared/memory.hpp"
#include "shared/rounds.hpp"

#include <barmap/barmap.hpp>

#include <cstddef>
#include <gtest/gtest.h>
#include <vector>

namespace barmap::gpu_test {

using after = batch_queue::after;
using then = batch_queue::then;

using namespace test;

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

/// Of this process.
[[nodiscard]] std::size_t open_descriptors();

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
