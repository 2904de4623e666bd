// SPDX-License-Identifier: MIT
/// Included by every C++ header of barmap.
///
/// The C++ interface is headers alone: its classes call the C functions that the library exports. So a
/// program may be built with any compiler, C++ library and switch of its ABI, and a program that was
/// built with older headers runs with a newer library. All names lie in an inline namespace that carries
/// the minor version: two libraries that were built with the headers of two versions do not mix
/// their inline code.
#pragma once

#if __cplusplus < 202002L
#error "barmap's C++ headers need -std=c++20 or newer; <barmap/barmap.h> is for C and older C++"
#endif

#include <cstddef> // and with it, which standard library it is

/// The version of these headers. CMake refuses to configure if the project has another one.
#define BARMAP_VERSION_MAJOR 0
#define BARMAP_VERSION_MINOR 1
#define BARMAP_VERSION_PATCH 0

// Errors are caught by their type. Where a standard library has another layout, they are other types.
#if defined(_LIBCPP_VERSION)
#define BARMAP_STANDARD_LIBRARY _libcxx
#elif defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#define BARMAP_STANDARD_LIBRARY _old_strings
#else
#define BARMAP_STANDARD_LIBRARY
#endif
#define BARMAP_NAMESPACE_OF(major, minor, library) v##major##_##minor##library
#define BARMAP_NAMESPACE_OF_VALUES(major, minor, library) BARMAP_NAMESPACE_OF(major, minor, library)
/// The inline namespace of all public names: v0_1 for 0.1. Programs do not name it.
#define BARMAP_INLINE_NAMESPACE                                                                    \
    BARMAP_NAMESPACE_OF_VALUES(BARMAP_VERSION_MAJOR, BARMAP_VERSION_MINOR, BARMAP_STANDARD_LIBRARY)

/// Marks what the libraries of a process have in common: types by which one of them catches what another
/// one throws.
#if defined(__GNUC__)
#define BARMAP_COMMON __attribute__((visibility("default")))
#else
#define BARMAP_COMMON
#endif
