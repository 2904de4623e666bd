// SPDX-License-Identifier: MIT
#include <barmap/pin.hpp>

#include "api/pin_state.hpp"

#include <algorithm>

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

namespace {

std::unique_ptr<mapping_state> map_as(std::shared_ptr<pin_state const> const& pinned,
                                      std::optional<cache_kind> wanted) {
    if (!pinned)
        throw error(errc::invalid_argument, "map an empty pin", "", "pin some memory first");
    pinned->device->expect_own_process("map GPU memory");
    auto state = std::make_unique<mapping_state>();
    state->pin = pinned;
    state->mapped = pinned->slot->named([&] { return pinned->pinned->map(wanted); });
    if (wanted && state->mapped->kind != *wanted)
        throw error(errc::unsupported_operation,
                    "map GPU memory " + std::string(to_string(*wanted)),
                    std::string(pinned->slot->name()),
                    "here it is " + std::string(to_string(state->mapped->kind)) +
                        ": map it without asking for a kind");
    state->plan = pinned->slot->plan(state->mapped->kind);
    return state;
}

} // namespace

mapping pin::map() const {
    return mapping(map_as(state_, std::nullopt));
}

mapping pin::map(cache_kind kind) const {
    return mapping(map_as(state_, kind));
}

namespace {

constexpr char await_events[] = "report when the GPU driver revokes memory";

backend::pinned& with_events(pin_state const* state) {
    if (!state || state->pinned->event_fd() < 0)
        throw error(errc::invalid_argument, await_events,
                    std::string(state ? state->slot->name() : ""),
                    "pin the memory with pin_options::events");
    return *state->pinned;
}

} // namespace

int pin::event_fd() const {
    return with_events(state_.get()).event_fd();
}

std::optional<pin_event> pin::next_event() const {
    backend::pinned& pinned = with_events(state_.get());
    state_->device->expect_own_process(await_events);
    std::optional<pin_event> event = state_->slot->named([&] { return pinned.next_event(); });
    if (!event)
        return event;
    // What of it is the pin's: the driver speaks of whole pages.
    CUdeviceptr first = state_->address, last = first + state_->size;
    if (event->lost == 0) {
        first = std::max<CUdeviceptr>(first, event->gpu_address);
        last = std::min<CUdeviceptr>(last, event->gpu_address + event->size);
    }
    event->gpu_address = first;
    event->size = last - first;
    return event;
}

bool pin::revoked() const {
    return state_ && state_->slot->named([&] { return state_->pinned->revoked(); });
}

} // namespace barmap
