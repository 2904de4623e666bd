// SPDX-License-Identifier: MIT
#include "map/backend.hpp"

#include <barmap/list.h>

#include <array>

namespace barmap::backend {
namespace {

// The order in which they are tried. See docs/backends.md for why.
constexpr std::array<registration, 4> backends{{
    {"gdrdrv", make_gdrdrv},
    {"dmabuf", make_dmabuf, open_dmabuf},
    {"rm", make_rm, open_rm},
    {"vulkan", make_vulkan},
}};

} // namespace

std::span<registration const> registry() noexcept {
    return backends;
}

std::shared_ptr<os::region> or_anywhere(std::shared_ptr<os::region> into, std::size_t bytes) {
    if (into && into->size() != bytes)
        throw error(errc::unknown_layout, "map GPU memory to the addresses that it had", "",
                    "its memory objects have changed: destroy the mapping, and map again");
    return into ? std::move(into) : std::make_shared<os::region>(os::region::for_files(bytes));
}

shared_memory pinned::share() {
    throw error(errc::unsupported_operation, "share pinned memory with another process", "",
                "this backend cannot share: use backend \"rm\" for the pin or the arena");
}

std::unique_ptr<pinned> backend::allocate(std::size_t) {
    throw error(errc::unsupported_operation, "allocate GPU memory", "",
                "this backend only registers memory: allocate with cudaMalloc and pin it");
}

} // namespace barmap::backend

char const* barmap_backend_name(std::size_t index) {
    auto const all = barmap::backend::registry();
    return index < all.size() ? all[index].name.data() : nullptr; // a literal
}
