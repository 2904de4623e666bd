// SPDX-License-Identifier: MIT
#pragma once

namespace barmap {

/// What a forked child may do (docs/ordering.md O24), for the advice of what refuses it.
inline constexpr char left_to_forked_children[] =
    "a forked child may only destroy what it has inherited, open descriptors of share() by "
    "open_shared(), or exec";

} // namespace barmap
