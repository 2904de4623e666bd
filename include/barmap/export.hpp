// SPDX-License-Identifier: MIT
/// Included by every C++ header of barmap.
///
/// The C++ interface is stable as source code only: a program is recompiled for another minor
/// version. So that it cannot run with the wrong library by accident, all names lie in an inline
/// namespace that carries the version, and their symbols in a version node of their own: such a
/// program does not link, and one that was linked before does not load. The interface with a
/// stable ABI is that of C, <barmap/barmap.h>.
#pragma once

#if __cplusplus < 202002L
#error "barmap's C++ headers need -std=c++20 or newer; <barmap/barmap.h> is for C and older C++"
#endif

/// The version of these headers. CMake refuses to configure if it is not that of the project.
#define BARMAP_VERSION_MAJOR 0
#define BARMAP_VERSION_MINOR 1
#define BARMAP_VERSION_PATCH 0

#define BARMAP_NAMESPACE_OF(major, minor) v##major##_##minor
#define BARMAP_NAMESPACE_OF_VALUES(major, minor) BARMAP_NAMESPACE_OF(major, minor)
/// Of the public names; v0_1 for 0.1. It is inline: programs do not write it.
#define BARMAP_INLINE_NAMESPACE                                                                    \
    BARMAP_NAMESPACE_OF_VALUES(BARMAP_VERSION_MAJOR, BARMAP_VERSION_MINOR)

/// Marks symbols that the shared library exports. All others are hidden.
#if defined(__GNUC__)
#define BARMAP_API __attribute__((visibility("default")))
#else
#define BARMAP_API
#endif
