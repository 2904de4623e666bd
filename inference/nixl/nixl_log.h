// SPDX-License-Identifier: MIT
#pragma once

/// Stands in for NIXL's common/nixl_log.h, which wants Abseil. NIXL's headers use these macros, this
/// plug-in does not.
#include <ostream>

#define NIXL_ASSERT(condition)                                                                     \
    if (!(condition))                                                                              \
    ::std::ostream(nullptr)
#define NIXL_ERROR ::std::ostream(nullptr)
