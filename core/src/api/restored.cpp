// SPDX-License-Identifier: MIT
#include "api/pin_state.hpp"
#include "base/c_boundary.hpp"

#include <barmap/checkpoint.h>
#include <barmap/waits.hpp>

#include <string>

/// Releases and restores pins and mappings around a checkpoint of the process.
namespace barmap {
namespace {

[[noreturn]] void refuse(pin_state const& which, std::string const& what, std::string advice) {
    throw error(errc::unsupported_operation,
                "prepare " + what + " of " + std::to_string(which.size) + " bytes at GPU address " +
                    std::to_string(which.address) + " for a checkpoint",
                std::string(which.slot->name()), std::move(advice));
}

cuda::memory describe_again(pin_state const& which) {
    return which.how.whole_pages ? cuda::describe_pages(which.address, which.size)
                                 : cuda::describe(which.address, which.size);
}

[[noreturn]] void refuse_other_memory(pin_state const& which) {
    throw error(errc::unsupported_memory,
                "find the " + std::to_string(which.size) +
                    " bytes that were pinned at GPU address " + std::to_string(which.address),
                std::string(which.slot->name()),
                "CUDA has other memory there: restore the process first, or destroy the pin");
}

} // namespace

pin_state::obstacle pin_state::obstacle_to_return() const {
    if (device->gpu.without_cuda)
        return {"memory that was opened by a descriptor",
                "destroy the pin, and open the memory again after checkpoint_restore()"};
    if (address == 0)
        return {"memory of another process",
                "destroy the pin, and pin it again after checkpoint_restore()"};
    if (pinned && pinned->allocated_address() != 0)
        return {"memory that the backend allocated",
                "a checkpoint of CUDA does not save it: allocate it with backend rm or dmabuf, or "
                "destroy the pin"};
    if (how.events)
        return {"a pin with events", "pin it without pin_options::events"};
    return {};
}

void pin_state::expect_restorable(bool is_overtaken) const {
    if (is_overtaken) // where memory was revoked, it is pinned again
        return;
    if (obstacle const why = obstacle_to_return(); why.what)
        refuse(*this, why.what, why.advice);
    if (pinned && pinned->revoked())
        refuse(*this, "memory that the driver has revoked", "destroy the pin");
    if (pinned && engines.has_changed())
        refuse(*this, "memory that has been freed", "destroy the pin");
}

void pin_state::release() {
    engines.release();
    if (!obstacle_to_return().what)
        pinned.reset();
}

void pin_state::restore() {
    if (pinned)
        return;
    cuda::memory const found = describe_again(*this);
    memory_kind const wanted = block ? memory_kind::virtual_exportable : memory;
    if (found.kind != wanted || found.ordinal != device->gpu.ordinal)
        refuse_other_memory(*this);
    pinned = slot->named([&] { return slot->get().pin(found, how); });
    engines.describe(found, pinned->objects(),
                     block ? engine_reach::owner::barmap : engine_reach::owner::program);
}

void mapping_state::expect_restorable(bool /*is_overtaken*/) const {
    if (mapped && !mapped->addresses())
        refuse(*pin, "a mapping",
               "this backend cannot map to given addresses: use another one, or destroy the "
               "mapping");
}

void mapping_state::release() {
    if (!pin || pin->obstacle_to_return().what || (mapped && !mapped->addresses()))
        return;
    if (mapped)
        addresses = mapped->addresses();
    if (addresses)
        addresses->vacate();
    mapped.reset();
    expect_addresses();
}

void mapping_state::expect_addresses() const {
    if (addresses && !addresses->is_whole())
        throw error(errc::unsupported_operation, "keep the addresses of a mapping",
                    std::string(pin->slot->name()),
                    "other memory of this process took them: destroy the mapping");
}

void mapping_state::restore() {
    if (!addresses)
        return;
    expect_addresses();
    // Its present kind, which may come from what another mapping of the pin asked for.
    mapped = pin->slot->named([&] { return pin->pinned->map(kind, addresses); });
    if (mapped->data != data || mapped->kind != kind)
        throw error(errc::unknown_layout, "map GPU memory as it was mapped before",
                    std::string(pin->slot->name()), "destroy the mapping, and map again");
    addresses.reset();
}

} // namespace barmap

int barmap_checkpoint_prepare(std::uint64_t at_most_ns) {
    return barmap::c::attempt(
        [&] { barmap::checkpoint::prepare(barmap::detail::wait_of_ns(at_most_ns)); });
}

int barmap_checkpoint_restore(void) {
    return barmap::c::attempt([] { barmap::checkpoint::restore(); });
}
