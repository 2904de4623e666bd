// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/export.hpp>

#include <span>
#include <type_traits>
#include <utility>

/// @file
/// Types whose values may be copied as bytes.
namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

namespace detail {

/// The element type of a contiguous range whose elements outlive the call.
template <class Values>
using element = typename decltype(std::span(std::declval<Values>()))::element_type;

} // namespace detail

/// Contiguous values that may be copied as bytes: an array, std::array, std::vector or std::span of
/// a trivially copyable type.
template <class Values>
concept copyable_values = std::is_trivially_copyable_v<detail::element<Values>>;

/// The same, and they may be changed.
template <class Values>
concept assignable_values = copyable_values<Values> && !std::is_const_v<detail::element<Values>>;

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
