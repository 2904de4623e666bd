// SPDX-License-Identifier: MIT
#include "allocator.hpp"

#include "own_memory.hpp"
#include "released_gil.hpp"

#include <barmap/error.hpp>

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>

namespace nb = nanobind;

namespace barmap::python {
namespace {

constexpr std::size_t alignment = 512; ///< that of cuMemAlloc, in bytes
/// The smallest block that the driver gives. Smaller requests share one.
constexpr std::size_t slab_bytes = std::size_t{2} << 20;
constexpr std::size_t largest_piece = slab_bytes / 4;

struct slab {
    std::shared_ptr<own_memory> memory;
    std::size_t used = 0;
};

/// The memory that libraries hold. Pieces of a slab are not used again before all of it is free:
/// libraries keep pools of their own, and rarely free anything.
struct lent_memory {
    std::mutex lock;
    std::map<std::uintptr_t, std::shared_ptr<own_memory>> by_address;
    std::map<int, slab> open_slabs; ///< by ordinal
};
lent_memory& lent() {
    static auto* const all = new lent_memory;
    return *all;
}

} // namespace

std::uintptr_t allocate_for_library(std::size_t bytes, int ordinal) {
    expect_not_forked("allocate GPU memory");
    if (bytes > largest_piece) {
        std::shared_ptr<own_memory> const made = own_memory::allocate(bytes, ordinal, {});
        std::lock_guard const guard(lent().lock);
        lent().by_address.insert_or_assign(made->address(), made);
        return made->address();
    }
    std::size_t const piece =
        (std::max(bytes, std::size_t{1}) + alignment - 1) / alignment * alignment;
    std::shared_ptr<own_memory> full; // released without the lock: that may wait for the GPU
    std::lock_guard const guard(lent().lock);
    slab& open = lent().open_slabs[ordinal];
    if (!open.memory || slab_bytes - open.used < piece) {
        slab next{own_memory::allocate(slab_bytes, ordinal, {}), 0};
        full = std::move(open.memory);
        open = std::move(next);
    }
    std::uintptr_t const address = open.memory->address() + open.used;
    lent().by_address.insert_or_assign(address, open.memory);
    open.used += piece;
    return address;
}

void free_for_library(std::uintptr_t address) noexcept {
    if (is_forked_child())
        return;
    std::shared_ptr<own_memory> last; // freed without the lock: that waits for the GPU
    std::lock_guard const guard(lent().lock);
    auto const entry = lent().by_address.find(address);
    if (entry == lent().by_address.end())
        return;
    last = std::move(entry->second);
    lent().by_address.erase(entry);
}

void bind_allocator(nb::module_& module) {
    module.def(
        "library_malloc",
        [](std::size_t bytes, int ordinal) {
            released_gil const others_run;
            return allocate_for_library(bytes, ordinal);
        },
        nb::arg("nbytes"), nb::arg("device"));
    module.def(
        "library_free",
        [](std::uintptr_t address) {
            released_gil const others_run;
            free_for_library(address);
        },
        nb::arg("address"));
}

} // namespace barmap::python

void* barmap_malloc(std::ptrdiff_t bytes, int device, void* /*stream*/) {
    try {
        if (bytes <= 0)
            return nullptr;
        return reinterpret_cast<void*>(
            barmap::python::allocate_for_library(static_cast<std::size_t>(bytes), device));
    } catch (std::exception const& failure) {
        std::fprintf(stderr, "barmap: %s\n", failure.what());
        return nullptr;
    }
}

void barmap_free(void* memory, std::ptrdiff_t /*bytes*/, int /*device*/, void* /*stream*/) {
    barmap::python::free_for_library(reinterpret_cast<std::uintptr_t>(memory));
}
