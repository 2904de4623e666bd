// SPDX-License-Identifier: MIT
#pragma once

#include "map/backend.hpp"

#include <vector>

namespace barmap::backend {

/// Tries each kind of memory that a started backend registers and that barmap can make: little
/// memory is made, pinned and mapped, and random values go both ways at both of its ends. A kind
/// that fails is reported as not usable.
/// @throws std::bad_alloc
[[nodiscard]] std::vector<memory_kind_report> test_kinds(backend& backend, gpu const& gpu);

} // namespace barmap::backend
