// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/error.hpp>
#include <barmap/gpu/list_in_memory.cuh>

#include <gtest/gtest.h>
#include <string>
#include <system_error>

/// A kernel's side of a queue, by its names there.
namespace barmap::contract::kernel_side {

using barmap::gpu::shared_submitter, barmap::gpu::warp_submitter;
using barmap::gpu::status, barmap::gpu::submit_and_wait;
using barmap::gpu::word;
using piece = barmap::gpu::copy_piece;
using queue = barmap::gpu::kernel_queue;
using sharing = barmap::gpu::kernel_queue_sharing;
using task = barmap::gpu::kernel_queue_task;

inline constexpr word patience = 20'000'000'000; // ns

/// The code of the error that this throws; an empty one if it throws none.
inline std::error_code code_of(auto action, std::string* what = nullptr) {
    try {
        action();
    } catch (error const& failure) {
        EXPECT_FALSE(failure.advice().empty() && failure.code() == errc::backend_absent)
            << failure.what();
        if (what)
            *what = failure.what();
        return failure.code();
    }
    return {};
}

} // namespace barmap::contract::kernel_side
