// SPDX-License-Identifier: MIT
#pragma once

/// Marks what the shared library exports. Everything else is hidden.
#if defined(__GNUC__)
#define BARMAP_API __attribute__((visibility("default")))
#else
#define BARMAP_API
#endif
