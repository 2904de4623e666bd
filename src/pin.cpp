// SPDX-License-Identifier: MIT
#include <barmap/pin.hpp>

#include "device_state.hpp"

namespace barmap {

pin::pin() noexcept = default;
pin::pin(pin&&) noexcept = default;
pin& pin::operator=(pin&&) noexcept = default;
pin::~pin() = default;
pin::pin(std::shared_ptr<pin_state const> state) noexcept : state_(std::move(state)) {}

std::uintptr_t pin::gpu_address() const noexcept {
    return state_ ? state_->address : 0;
}

std::size_t pin::size() const noexcept {
    return state_ ? state_->size : 0;
}

memory_kind pin::memory() const noexcept {
    return state_ ? state_->memory : memory_kind::unknown;
}

std::string_view pin::backend() const noexcept {
    return state_ ? state_->slot->name() : std::string_view{};
}

mapping pin::map() const {
    if (!state_)
        throw error(errc::invalid_argument, "map an empty pin", "", "pin some memory first");
    state_->device->expect_own_process("map GPU memory");
    auto state = std::make_unique<mapping_state>();
    state->pin = state_;
    state->mapped = state_->pinned->map();
    state->plan = state_->slot->plan(state->mapped->kind);
    return mapping(std::move(state));
}

} // namespace barmap
