// SPDX-License-Identifier: MIT
#pragma once

namespace barmap {

/// The advice of functions that refuse a forked child: what it may do (docs/ordering.md O24).
inline constexpr char left_to_forked_children[] =
    "a forked child may only destroy what it has inherited, open descriptors of share() by "
    "open_shared(), or exec";

} // namespace barmap
