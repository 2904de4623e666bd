// SPDX-License-Identifier: MIT
#include "api/handles.hpp"
#include "base/config.hpp"
#include "base/lists.hpp"
#include "gpu/open_devices.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace barmap {

copy_plan pin_state::plan(cache_kind kind) const {
    // Without CUDA, a first store comes before there is time to measure.
    return device->gpu.without_cuda ? copy::preferred_plan(kind) : slot->plan(kind);
}

namespace {

using c::attempt;
using c::expect;
using c::make;

constexpr char map_it[] = "map GPU memory", share_it[] = "share pinned memory with another process",
               await_events[] = "report when the GPU driver revokes memory";

std::unique_ptr<barmap_mapping> map_as(barmap_pin const* pin, std::optional<cache_kind> wanted) {
    std::shared_ptr<pin_state const> const& pinned = state_of(pin, map_it);
    checkpoint::pass const here = pinned->device->enter(map_it, device_state::look::always);
    auto state = std::make_unique<mapping_state>();
    state->pin = pinned;
    state->mapped = pinned->slot->named([&] { return pinned->pinned->map(wanted); });
    state->data = state->mapped->data;
    state->kind = state->mapped->kind;
    if (wanted && state->kind != *wanted)
        throw error(errc::unsupported_operation,
                    "map GPU memory " + std::string(to_string(*wanted)),
                    std::string(pinned->slot->name()),
                    "this backend maps it " + std::string(to_string(state->kind)) +
                        ": map it without asking for a kind");
    state->plan = pinned->plan(state->kind);
    window const whole{state->data, pinned->size, &state->plan};
    return std::make_unique<barmap_mapping>(barmap_mapping{whole, std::move(state)});
}

cache_kind kind_of(int number) {
    switch (number) {
    case BARMAP_WRITE_COMBINING:
    case BARMAP_CACHED:
    case BARMAP_UNCACHED:
        return static_cast<cache_kind>(number);
    default:
        throw error(errc::invalid_argument, map_it, "", "give a value of enum barmap_cache_kind");
    }
}

backend::pinned& with_events(pin_state const& state) {
    if (!state.how.events) // a pin with events is never released for a checkpoint
        throw error(errc::invalid_argument, await_events, std::string(state.slot->name()),
                    "pin the memory with the option that asks for events");
    return *state.pinned;
}

std::optional<pin_event> next_event(pin_state const& state) {
    checkpoint::pass const here(await_events);
    backend::pinned& pinned = with_events(state);
    state.device->expect_own_process(await_events);
    std::optional<pin_event> event = state.slot->named([&] { return pinned.next_event(); });
    if (!event)
        return event;
    // The part that belongs to the pin: the driver reports whole pages.
    CUdeviceptr first = state.address, last = first + state.size;
    if (event->lost == 0) {
        first = std::max<CUdeviceptr>(first, event->gpu_address);
        last = std::min<CUdeviceptr>(last, event->gpu_address + event->size);
    }
    event->gpu_address = first;
    event->size = last - first;
    return event;
}

std::vector<engine_report> engines_of(pin_state const& state) {
    checkpoint::pass const here =
        state.device->enter("ask which engines copy GPU memory", device_state::look::always);
    std::vector<engine_report> reports;
    for (std::unique_ptr<engine_slot> const& slot : state.device->engines) {
        engine_report& report = reports.emplace_back(slot->report());
        if (report.state != backend_state::usable)
            continue;
        auto const by = state.engines.find(*slot);
        if (by && by->memory)
            continue;
        report.state = backend_state::absent;
        report.reason = "it cannot hold this memory, which another thread may free during a copy";
        report.advice = "loads and stores copy this memory; for an engine, allocate it with barmap "
                        "or cuMemCreate, or pin it with backend rm where channel is usable";
    }
    return reports;
}

int share(pin_state const& state) {
    checkpoint::pass const here = state.device->enter(share_it, device_state::look::always);
    return state.slot->named([&] {
        backend::shared_memory shared = state.pinned->share();
        shared.backend = state.slot->name();
        shared.memory = state.memory;
        shared.gpu = state.device->gpu.pci;
        shared.simulated = state.device->gpu.simulated;
        return shared.pack().release();
    });
}

std::unique_ptr<barmap_pin> open_shared_memory(int descriptor) {
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
    return std::make_unique<barmap_pin>(barmap_pin{std::move(state)});
}

} // namespace
} // namespace barmap

using namespace barmap;

int barmap_pin_open_shared(int descriptor, barmap_pin** out) {
    return make(out, "open shared memory", [&] { return open_shared_memory(descriptor); });
}

std::uint64_t barmap_pin_gpu_address(barmap_pin const* pin) {
    return pin->state->address;
}

std::size_t barmap_pin_size(barmap_pin const* pin) {
    return pin->state->size;
}

char const* barmap_pin_backend(barmap_pin const* pin) {
    return pin->state->slot->name().data(); // a literal
}

int barmap_pin_memory_kind(barmap_pin const* pin) {
    return static_cast<int>(pin->state->memory);
}

int barmap_pin_share(barmap_pin const* pin, int* descriptor) {
    return attempt([&] {
        expect(descriptor, share_it, "pass a pointer for the descriptor, not NULL") = -1;
        *descriptor = share(*state_of(pin, share_it));
    });
}

int barmap_pin_revoked(barmap_pin const* pin, int* revoked) {
    static constexpr char operation[] = "ask whether the GPU driver has revoked memory";
    return attempt([&] {
        expect(revoked, operation, "pass a pointer for the answer, not NULL") = 0;
        pin_state const& state = *state_of(pin, operation);
        checkpoint::pass const here = state.device->enter(operation, device_state::look::never);
        *revoked = state.slot->named([&] { return state.pinned->revoked(); }) ? 1 : 0;
    });
}

int barmap_pin_event_fd(barmap_pin const* pin, int* descriptor) {
    return attempt([&] {
        expect(descriptor, await_events, "pass a pointer for the descriptor, not NULL") = -1;
        checkpoint::pass const here(await_events);
        *descriptor = with_events(*state_of(pin, await_events)).event_fd();
    });
}

int barmap_pin_next_event(barmap_pin const* pin, barmap_pin_event* event, int* found) {
    return attempt([&] {
        expect(found, await_events, "pass a pointer for the answer, not NULL") = 0;
        expect(event, await_events, "pass a pointer for the event, not NULL") = {};
        if (auto const next = next_event(*state_of(pin, await_events))) {
            *event = {next->gpu_address, next->size, next->sequence, next->lost};
            *found = 1;
        }
    });
}

int barmap_pin_list_engines(barmap_pin const* pin, barmap_list** out) {
    static constexpr char operation[] = "ask which engines copy GPU memory";
    return c::make_list(out, operation, [&] { return engines_of(*state_of(pin, operation)); });
}

void barmap_pin_destroy(barmap_pin* pin) {
    c::free_handle(pin);
}

int barmap_mapping_create(barmap_pin* pin, barmap_mapping** out) {
    return make(out, map_it, [&] { return map_as(pin, std::nullopt); });
}

int barmap_mapping_create_as(barmap_pin* pin, int kind, barmap_mapping** out) {
    return make(out, map_it, [&] { return map_as(pin, kind_of(kind)); });
}
