// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/export.hpp>

#include <type_traits>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// A type that rings and calls can carry.
template <class Message>
concept ring_message = std::is_trivially_copyable_v<Message> && std::is_default_constructible_v<Message>;

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
