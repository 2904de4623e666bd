// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

namespace barmap::runtime_test {

/// Whether a value of one type is passed to a C function as one of the other is.
template <class Ours, class Theirs>
constexpr bool same_value() {
    constexpr bool ours_is_number = std::is_integral_v<Ours> || std::is_enum_v<Ours>;
    constexpr bool theirs_is_number = std::is_integral_v<Theirs> || std::is_enum_v<Theirs>;
    if constexpr (std::is_same_v<Ours, Theirs>)
        return true;
    else
        return sizeof(Ours) == sizeof(Theirs) &&
               ((ours_is_number && theirs_is_number) ||
                (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) ||
                (std::is_class_v<Ours> && std::is_class_v<Theirs> &&
                 std::is_trivially_copyable_v<Ours> && alignof(Ours) == alignof(Theirs)));
}

template <class Ours, class Theirs>
struct same_abi : std::false_type {};

/// The functions have as many parameters, each passed in the same way, and so the result.
template <class OurResult, class... Ours, class TheirResult, class... Theirs>
requires(sizeof...(Ours) ==
         sizeof...(Theirs)) struct same_abi<OurResult (*)(Ours...), TheirResult (*)(Theirs...)>
    : std::bool_constant<same_value<OurResult, TheirResult>() &&
                         (same_value<Ours, Theirs>() && ...)> {
};

} // namespace barmap::runtime_test
