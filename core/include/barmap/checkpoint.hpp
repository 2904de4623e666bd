// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/checkpoint.h>
#include <barmap/error.hpp>
#include <barmap/waits.hpp>

#include <chrono>

/// @file
/// For processes that others checkpoint together with their GPU state; <barmap/checkpoint.h> says
/// who does, and where the recipes and rules are.
///
///     barmap::checkpoint_prepare();
///     // ... this process or another one checkpoints and restores it ...
///     barmap::checkpoint_restore();
namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// Releases all GPU resources that the process holds through barmap; objects stay valid. Until
/// checkpoint_restore(), calls that need the GPU throw errc::checkpointed.
/// Contract and errors: barmap_checkpoint_prepare().
inline void checkpoint_prepare(std::chrono::nanoseconds at_most = std::chrono::seconds(1)) {
    detail::check(barmap_checkpoint_prepare(detail::ns_of_wait(at_most)));
}

/// Restores the resources that checkpoint_prepare() released: mappings keep their CPU addresses.
/// Contract and errors: barmap_checkpoint_restore().
inline void checkpoint_restore() {
    detail::check(barmap_checkpoint_restore());
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
