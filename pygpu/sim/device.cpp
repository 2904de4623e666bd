// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <utility>

namespace barmap::sim_hip {
namespace {

std::atomic<bool> in_child{false};

constexpr std::size_t most_devices = 16;
constexpr char device_name[] = "barmap simulated AMD GPU";

int attribute_value(hip::attribute_id attribute, int ordinal) {
    switch (attribute) {
    case hip::attribute_compute_capability_major:
        return 9;
    case hip::attribute_compute_capability_minor:
        return 4;
    case hip::attribute_max_threads_per_block:
        return 1024;
    case hip::attribute_multiprocessor_count:
        return 8;
    case hip::attribute_warp_size:
        return 64;
    case hip::attribute_pci_bus_id:
        return ordinal + 1;
    default:
        return 0;
    }
}

} // namespace

world::world() {
    devices.resize(sim::number_setting(trouble, "BARMAP_SIM_DEVICES", 1, 0, most_devices));
    std::uint64_t const bytes =
        sim::size_setting(trouble, "BARMAP_SIM_MEMORY", std::uint64_t{4} << 30);
    failing = sim::planned_failure::read(trouble, "hip", sim::own_symbol);
    if (!trouble.empty())
        std::fprintf(stderr, "barmap's simulated GPU: %s\n", trouble.c_str());
    for (std::size_t k = 0; k < devices.size(); ++k) {
        devices[k].memory_size = bytes;
        devices[k].null_stream->owner = int(k);
    }
    pthread_atfork(nullptr, nullptr, [] { in_child.store(true); });
}

world& the_world() {
    static world& everything = *new world;
    return everything;
}

device& world::get_device(int ordinal) {
    require(!devices.empty(), no_device);
    require(ordinal >= 0 && std::size_t(ordinal) < devices.size(), invalid_device);
    return devices[std::size_t(ordinal)];
}

int& current_device() noexcept {
    static thread_local int ordinal = 0;
    return ordinal;
}

error& last_error() noexcept {
    static thread_local error last = success;
    return last;
}

error admit(char const* function) noexcept {
    world const& all = the_world();
    if (!all.trouble.empty())
        return invalid_value;
    if (all.failing.strikes(function))
        return all.failing.code;
    return in_child.load() ? not_initialized : success;
}

BARMAP_SIM_HIP hipGetDeviceCount(int* count) {
    return call("hipGetDeviceCount", [&](world_lock&) {
        out(count) = int(the_world().devices.size());
        require(*count > 0, no_device);
    });
}

BARMAP_SIM_HIP hipSetDevice(int ordinal) {
    return call("hipSetDevice", [&](world_lock&) {
        (void)the_world().get_device(ordinal);
        current_device() = ordinal;
    });
}

BARMAP_SIM_HIP hipGetDevice(int* ordinal) {
    return call("hipGetDevice", [&](world_lock&) {
        (void)the_world().get_device(current_device());
        out(ordinal) = current_device();
    });
}

BARMAP_SIM_HIP hipDeviceSynchronize() {
    return call("hipDeviceSynchronize", [&](world_lock& lock) { drain(current_device(), lock); });
}

BARMAP_SIM_HIP hipDeviceReset() {
    return call("hipDeviceReset", [&](world_lock& lock) {
        int const here = current_device();
        drain(here, lock);
        world& all = the_world();
        device& of = all.get_device(here);
        for (auto const& [base, one] : all.allocations)
            if (one.device == here && one.on_device)
                munmap(reinterpret_cast<void*>(base), one.size);
        std::erase_if(all.allocations,
                      [&](auto const& each) { return each.second.device == here; });
        all.streams.erase_if([&](stream const& each) { return each.owner == here; });
        all.events.erase_if([&](event const& each) { return each.device == here; });
        of.memory_used = 0;
        of.departed.clear();
    });
}

BARMAP_SIM_HIP hipDeviceGetName(char* name, int bytes, int ordinal) {
    return call("hipDeviceGetName", [&](world_lock&) {
        (void)the_world().get_device(ordinal);
        require(name && bytes > 0);
        std::snprintf(name, std::size_t(bytes), "%s", device_name);
    });
}

BARMAP_SIM_HIP hipDeviceGetUuid(hip::uuid* uuid, int ordinal) {
    return call("hipDeviceGetUuid", [&](world_lock&) {
        (void)the_world().get_device(ordinal);
        std::memcpy(out(uuid).bytes, "barmap-simulated", sizeof uuid->bytes);
        uuid->bytes[15] = static_cast<char>(uuid->bytes[15] + ordinal);
    });
}

BARMAP_SIM_HIP hipDeviceTotalMem(std::size_t* bytes, int ordinal) {
    return call("hipDeviceTotalMem",
                [&](world_lock&) { out(bytes) = the_world().get_device(ordinal).memory_size; });
}

BARMAP_SIM_HIP hipDeviceGetAttribute(int* value, hip::attribute_id attribute, int ordinal) {
    return call("hipDeviceGetAttribute", [&](world_lock&) {
        (void)the_world().get_device(ordinal);
        out(value) = attribute_value(attribute, ordinal);
    });
}

BARMAP_SIM_HIP hipGetLastError() {
    return std::exchange(last_error(), success);
}

BARMAP_SIM_HIP hipPeekAtLastError() {
    return last_error();
}

} // namespace barmap::sim_hip
