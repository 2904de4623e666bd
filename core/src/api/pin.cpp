// SPDX-License-Identifier: MIT
#include <barmap/pin.hpp>

#include "api/pin_state.hpp"
#include "base/config.hpp"
#include "gpu/open_devices.hpp"

#include <algorithm>

namespace barmap {

copy_plan pin_state::plan(cache_kind kind) const {
    // Without CUDA, a first store comes before there is time to measure.
    return device->gpu.without_cuda ? copy::preferred_plan(kind) : slot->plan(kind);
}

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
    checkpoint::pass const here =
        pinned->device->enter("map GPU memory", device_state::look::always);
    auto state = std::make_unique<mapping_state>();
    state->pin = pinned;
    state->mapped = pinned->slot->named([&] { return pinned->pinned->map(wanted); });
    state->data = state->mapped->data;
    state->kind = state->mapped->kind;
    if (wanted && state->kind != *wanted)
        throw error(errc::unsupported_operation,
                    "map GPU memory " + std::string(to_string(*wanted)),
                    std::string(pinned->slot->name()),
                    "here it is " + std::string(to_string(state->kind)) +
                        ": map it without asking for a kind");
    state->plan = pinned->plan(state->kind);
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
    if (!state || !state->how.events) // a pin with events is never released for a checkpoint
        throw error(errc::invalid_argument, await_events,
                    std::string(state ? state->slot->name() : ""),
                    "pin the memory with pin_options::events");
    return *state->pinned;
}

} // namespace

int pin::event_fd() const {
    checkpoint::pass const here(await_events);
    return with_events(state_.get()).event_fd();
}

std::optional<pin_event> pin::next_event() const {
    checkpoint::pass const here(await_events);
    backend::pinned& pinned = with_events(state_.get());
    state_->device->expect_own_process(await_events);
    std::optional<pin_event> event = state_->slot->named([&] { return pinned.next_event(); });
    if (!event)
        return event;
    // The part that belongs to the pin: the driver reports whole pages.
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
    if (!state_)
        return false;
    checkpoint::pass const here = state_->device->enter(
        "ask whether the GPU driver has revoked memory", device_state::look::never);
    return state_->slot->named([&] { return state_->pinned->revoked(); });
}

std::vector<engine_report> pin::engines() const {
    if (!state_)
        return {};
    checkpoint::pass const here =
        state_->device->enter("ask which engines copy GPU memory", device_state::look::always);
    std::vector<engine_report> reports;
    for (std::unique_ptr<engine_slot> const& slot : state_->device->engines) {
        engine_report& report = reports.emplace_back(slot->report());
        if (report.state != backend_state::usable)
            continue;
        auto const by = state_->engines.find(*slot);
        if (by && by->memory)
            continue;
        report.state = backend_state::absent;
        report.reason = "it cannot hold this memory, which another thread may free during a copy";
        report.advice = "loads and stores copy this memory; for an engine, allocate it with barmap "
                        "or cuMemCreate, or pin it with backend rm where channel is usable";
    }
    return reports;
}

int pin::share() const {
    constexpr char what[] = "share pinned memory with another process";
    if (!state_)
        throw error(errc::invalid_argument, what, "", "pin some memory first");
    checkpoint::pass const here = state_->device->enter(what, device_state::look::always);
    return state_->slot->named([&] {
        backend::shared_memory shared = state_->pinned->share();
        shared.backend = state_->slot->name();
        shared.memory = state_->memory;
        shared.gpu = state_->device->gpu.pci;
        shared.simulated = state_->device->gpu.simulated;
        return shared.pack().release();
    });
}

} // namespace barmap

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

pin open_shared(int descriptor) {
    constexpr char what[] = "open shared memory";
    checkpoint::pass const here(what);
    auto shared = backend::shared_memory::unpack(descriptor);
    auto const by =
        std::ranges::find(backend::registry(), shared.backend, &backend::registration::name);
    if (by == backend::registry().end() || !by->open)
        throw error(errc::unsupported_operation, what, "",
                    "another version of barmap shared it: use one version in both processes");
    if (shared.simulated && !config::current().simulate)
        throw error(errc::unsupported_operation, what, std::string(by->name),
                    "set BARMAP_SIM=1 in this process: the memory is a simulated GPU's");
    backend::gpu gpu;
    gpu.pci = shared.gpu;
    gpu.pci_address = shared.gpu.text();
    gpu.simulated = shared.simulated;
    gpu.coherent = shared.caching == cache_kind::cached;
    gpu.without_cuda = true;
    auto state = std::make_shared<pin_state>();
    state->device = open_without_cuda(gpu);
    state->slot = &state->device->slot(by->name);
    state->size = shared.bytes();
    state->memory = shared.memory;
    state->pinned = state->slot->named([&] { return by->open(std::move(shared)); });
    state->engines.describe({}, state->pinned->objects(), engine_reach::owner::program);
    return pin(std::move(state));
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
