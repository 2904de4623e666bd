// SPDX-License-Identifier: MIT
// The functions of the C++ interface behind the C one, replaced by some that note what they get and
// throw what they are told to.
#pragma once

#include <barmap/barmap.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace played_core {

extern std::function<void()> failure; ///< throws
extern barmap::pin_options pinned_with;
/// The numbers that were handed on by the latest call.
extern std::vector<std::uint64_t> handed_on;
extern barmap::ipc_handle pinned_by;
extern barmap::cache_kind kind_of_mappings;
struct submission {
    barmap::copy_piece const* pieces;
    std::size_t count;
    std::optional<barmap::batch_queue::after> begin;
    std::optional<barmap::batch_queue::then> end;
};
extern submission submitted;
extern std::chrono::nanoseconds waited;
extern std::optional<barmap::batch_ticket> ticket_of_a_started_engine;
struct copy {
    std::byte const* host;
    std::size_t offset, bytes;
};
extern copy copied;

} // namespace played_core
