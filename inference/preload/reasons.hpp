// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace barmap::memcpy_dropin {

/// Why a batch is CUDA's own.
enum class reason {
    exiting,
    forked,
    few_pieces,
    behind_work,
    large_pieces,
    small_batch,
    beside_stores,
    refused_by_cuda,
    default_stream,
    during_call,
    unknown_attribute,
    other_context,
    starting,
    off,
    captured,
    unknown_memory,
    managed_memory,
    other_gpu,
    host_to_host,
    refused_here,
};

/// Each in the words of the report at exit, and of docs/memcpy.md.
inline constexpr std::array<std::string_view, 20> words_of_reasons{
    "at the exit of the process",
    "in a forked child",
    "few pieces",
    "few pieces behind other work",
    "large pieces",
    "large pieces in a small batch",
    "loads of large pieces beside stores",
    "arguments that CUDA refuses",
    "a default stream",
    "sources to be read during the call",
    "attributes that barmap does not know",
    "a context that is not the primary one",
    "the engine was being started",
    "the engine is off",
    "a stream that is captured into a graph",
    "memory that CUDA has not pinned",
    "managed memory",
    "memory of another GPU without access",
    "pieces that stay in host memory",
    "refused by barmap",
};
static_assert(words_of_reasons.size() == static_cast<std::size_t>(reason::refused_here) + 1);

} // namespace barmap::memcpy_dropin
