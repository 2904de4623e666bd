// SPDX-License-Identifier: MIT
#include "transfer/engine/engine.hpp"
#include "transfer/engine/held_memory.hpp"

#include <barmap/report.hpp>

#include <array>

namespace barmap::engine {

namespace {

std::unique_ptr<copy_engine> make_channel(gpu const& gpu, lane which) {
    return which == lane::held ? make_channel_held(gpu) : make_channel_cuda(gpu);
}

} // namespace

std::span<copy_registration const> registry() noexcept {
    static constexpr std::array<copy_registration, 2> engines{{
        {"channel", make_channel},
        {"driver", make_driver},
    }};
    return engines;
}

bool holds_cuda_malloc(std::string_view engine) noexcept {
    return engine != "driver"; // hold_by_cuda() takes VMM memory only
}

} // namespace barmap::engine

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

std::vector<std::string> engine_names() {
    std::vector<std::string> names;
    for (engine::copy_registration const& entry : engine::registry())
        names.emplace_back(entry.name);
    return names;
}

std::string_view to_string(copy_direction direction) noexcept {
    return direction == copy_direction::to_gpu ? "to the GPU" : "to the CPU";
}

std::string_view to_string(host_memory_kind kind) noexcept {
    return kind == host_memory_kind::pageable ? "pageable" : "pinned";
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
