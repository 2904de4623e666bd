// SPDX-License-Identifier: MIT
#include "api/adaptive.hpp"

#include <barmap/copy.hpp>
#include <barmap/error.hpp>

#include <new>

namespace barmap {
namespace {

enum class result { done, impossible, unfinished };

/// A copy to be made.
struct job {
    mapping_state const& mapping;
    copy_direction direction;
    std::size_t offset;
    std::byte* host;
    std::size_t bytes;
    pinned_host::allocation pinned; ///< where the host's side lies in one
};

result copy_by(engine_slot& slot, job const& what) {
    pin_state const& pin = *what.mapping.pin;
    std::shared_ptr<engine_reach::reached const> const by = pin.engines.find(slot);
    if (!by || !by->memory || !engine::covers(*by->memory, what.offset, what.bytes) ||
        !by->memory->is_unchanged())
        return result::impossible;
    engine::direction const way = what.direction == copy_direction::to_gpu
                                      ? engine::direction::to_gpu
                                      : engine::direction::to_cpu;
    pinned_host::place place;
    if (what.pinned.size > 0)
        place = pin.device->pinned.find(by->worker, what.pinned, what.host, what.bytes);
    flush_stores(); // those through the mapping
    engine::outcome const outcome =
        place.runs().empty()
            ? by->worker->copy_staged(way, *by->memory, what.offset, what.host, what.bytes)
            : by->worker->copy_direct(way, *by->memory, what.offset, place.runs());
    if (outcome == engine::outcome::done) {
        slot.count(what.bytes);
        return result::done;
    }
    return slot.retire(by->worker) ? result::impossible : result::unfinished;
}

/// @return whether the copy is made. @throws error errc::copy_unfinished
bool is_copied_by(engine_slot& slot, job const& what) {
    switch (copy_by(slot, what)) {
    case result::done:
        return true;
    case result::impossible:
        return false;
    case result::unfinished:
        break;
    }
    throw error(errc::copy_unfinished, "copy " + std::to_string(what.bytes) + " bytes", "",
                "copy engine " + std::string(slot.name()) +
                    " has not ended it and could not be stopped, so some of it may arrive later: "
                    "use neither side again");
}

} // namespace

void copy_by_mapping(mapping_state const& mapping, copy_direction direction, std::size_t offset,
                     std::byte* host, std::size_t bytes) noexcept {
    window const there{mapping.data + offset, bytes, &mapping.plan};
    if (direction == copy_direction::to_gpu)
        write(there, std::span<std::byte const>(host, bytes));
    else
        read(std::span(host, bytes), there);
}

copy_methods const& methods_of(pin_state const& pin) {
    checkpoint::pass const here = pin.device->enter("copy GPU memory", device_state::look::never);
    if (copy_methods const* const known = pin.slot->known_methods())
        return *known;
    return pin.slot->methods(pin.device->engines_to_measure());
}

namespace {

/// The same, or null where they cannot be measured now, for example because memory is used up:
/// loads and stores need none.
copy_methods const* methods_if_any(pin_state const& pin) {
    if (copy_methods const* const known = pin.slot->known_methods())
        return known;
    try {
        return &methods_of(pin);
    } catch (error const& failure) {
        std::error_code const& code = failure.code();
        if (code == errc::forked_child || code == errc::backend_absent ||
            code == errc::backend_broken)
            throw;
        return nullptr;
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

} // namespace

void copy_adaptively(mapping_state const& mapping, copy_direction direction, std::size_t offset,
                     std::byte* host, std::size_t bytes) {
    checkpoint::pass const here =
        mapping.pin->device->enter("copy GPU memory", device_state::look::never);
    device_state& device = *mapping.pin->device;
    copy_methods const* const methods = methods_if_any(*mapping.pin);
    if (!methods)
        return copy_by_mapping(mapping, direction, offset, host, bytes);
    engine_slot* const pageable = methods->of(direction, host_memory_kind::pageable, bytes);
    engine_slot* const pinned = methods->of(direction, host_memory_kind::pinned, bytes);
    if (pageable || pinned) {
        // Only here, as copies without an engine do not call CUDA.
        checkpoint::pass const looked = device.enter("copy GPU memory", device_state::look::seldom);
        job what{mapping, direction, offset, host, bytes, {}};
        if (!device.gpu.without_cuda)
            what.pinned = device.pinned.describe(host);
        if (!what.pinned.contains(reinterpret_cast<std::uintptr_t>(host), bytes))
            what.pinned = {};
        engine_slot* const chosen = what.pinned.size > 0 ? pinned : pageable;
        if (chosen && is_copied_by(*chosen, what))
            return;
        // Where that one has failed for good, or does not reach this memory, another may.
        if (chosen && !device.engine_is_forced)
            for (std::unique_ptr<engine_slot> const& each : device.engines)
                if (each.get() != chosen && is_copied_by(*each, what))
                    return;
    }
    copy_by_mapping(mapping, direction, offset, host, bytes);
}

} // namespace barmap
