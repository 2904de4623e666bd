// SPDX-License-Identifier: MIT
/// Included by every C++ header of barmap.
///
/// The C++ interface is stable as source code only: recompile your program for another minor
/// version. All names lie in an inline namespace that carries the version, and their symbols in a
/// separate version node. So a program that was compiled for another version does not link, and one
/// that was linked before does not load. The C interface, <barmap/barmap.h>, has a stable ABI.
#pragma once

#if __cplusplus < 202002L
#error "barmap's C++ headers need -std=c++20 or newer; <barmap/barmap.h> is for C and older C++"
#endif

/// The version of these headers. CMake refuses to configure if the project has another one.
#define BARMAP_VERSION_MAJOR 0
#define BARMAP_VERSION_MINOR 1
#define BARMAP_VERSION_PATCH 0

#define BARMAP_NAMESPACE_OF(major, minor) v##major##_##minor
#define BARMAP_NAMESPACE_OF_VALUES(major, minor) BARMAP_NAMESPACE_OF(major, minor)
/// The inline namespace of all public names: v0_1 for 0.1. Programs do not name it.
#define BARMAP_INLINE_NAMESPACE                                                                    \
    BARMAP_NAMESPACE_OF_VALUES(BARMAP_VERSION_MAJOR, BARMAP_VERSION_MINOR)

/// Marks symbols that the shared library exports. All others are hidden.
#if defined(__GNUC__)
#define BARMAP_API __attribute__((visibility("default")))
#else
#define BARMAP_API
#endif
