// SPDX-License-Identifier: MIT
#include "map/backend.hpp"

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

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

std::vector<std::string> backend_names() {
    std::vector<std::string> names;
    for (backend::registration const& entry : backend::registry())
        names.emplace_back(entry.name);
    return names;
}

std::string_view to_string(backend_state state) noexcept {
    switch (state) {
    case backend_state::usable:
        return "usable";
    case backend_state::absent:
        return "absent";
    case backend_state::broken:
        return "broken";
    }
    return "unknown";
}

std::string_view to_string(cache_kind kind) noexcept {
    switch (kind) {
    case cache_kind::write_combining:
        return "write-combining";
    case cache_kind::cached:
        return "cached";
    case cache_kind::uncached:
        return "uncached";
    }
    return "unknown";
}

std::string_view to_string(memory_kind kind) noexcept {
    switch (kind) {
    case memory_kind::device:
        return "cudaMalloc memory";
    case memory_kind::virtual_exportable:
        return "VMM memory with a POSIX-fd handle type";
    case memory_kind::virtual_opaque:
        return "VMM memory without an exportable handle type";
    case memory_kind::pool:
        return "cudaMallocAsync memory of a pool without handle types";
    case memory_kind::pool_exportable:
        return "cudaMallocAsync memory of a pool with POSIX-fd handles";
    case memory_kind::graph:
        return "memory of a CUDA graph's node";
    case memory_kind::allocated:
        return "memory that barmap allocated";
    case memory_kind::imported:
        return "memory imported into CUDA from another process or API";
    case memory_kind::managed:
        return "managed memory";
    case memory_kind::host:
        return "host memory";
    case memory_kind::unknown:
        return "an address that CUDA does not know";
    }
    return "unknown";
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
