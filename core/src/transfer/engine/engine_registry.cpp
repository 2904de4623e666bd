// SPDX-License-Identifier: MIT
#include "transfer/engine/engine.hpp"
#include "transfer/engine/held_memory.hpp"

#include <barmap/list.h>

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

char const* barmap_engine_name(std::size_t index) {
    auto const all = barmap::engine::registry();
    return index < all.size() ? all[index].name.data() : nullptr; // a literal
}
