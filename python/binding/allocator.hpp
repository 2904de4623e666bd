// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

/// Memory for other libraries' allocators, mappable by construction.
///
/// Thread rule: any function may be called by any thread, with or without the GIL.
namespace barmap::python {

/// GPU memory at a multiple of 512 bytes.
/// @throws error as device::allocate
[[nodiscard]] std::uintptr_t allocate_for_library(std::size_t bytes, int ordinal);
/// Frees it, after all work on that GPU; ignores an address that is not
/// allocate_for_library's.
void free_for_library(std::uintptr_t address) noexcept;

/// Adds library_malloc and library_free.
void bind_allocator(nanobind::module_& module);

} // namespace barmap::python

/// The same in the form of PyTorch's CUDAPluggableAllocator. barmap_malloc returns null, and writes
/// a line to stderr that says why, where there is no memory.
extern "C" {
[[gnu::visibility("default")]] void* barmap_malloc(std::ptrdiff_t bytes, int device, void* stream);
[[gnu::visibility("default")]] void barmap_free(void* memory, std::ptrdiff_t bytes, int device,
                                                void* stream);
}
