// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <cstring>
#include <iterator>
#include <sys/mman.h>

namespace barmap::sim_hip {

allocation const* world::find(void const* address, std::size_t bytes) {
    auto const at = reinterpret_cast<std::uintptr_t>(address);
    auto next = allocations.upper_bound(at);
    if (next == allocations.begin())
        return nullptr;
    allocation const& found = std::prev(next)->second;
    if (at - found.base >= found.size)
        return nullptr;
    require(bytes <= found.size - (at - found.base));
    return &found;
}

namespace {

/// Checks one side of a copy. The device can use its own memory and registered host memory.
void check_side(void const* address, std::size_t bytes, bool device) {
    require(address != nullptr);
    require(the_world().find(address, bytes) || !device);
}

void check_copy(void const* to, std::size_t to_bytes, void const* from, std::size_t from_bytes,
                hip::copy_kind kind) {
    require(kind >= hip::host_to_host && kind <= hip::device_to_device, invalid_copy_direction);
    check_side(to, to_bytes, kind == hip::host_to_device || kind == hip::device_to_device);
    check_side(from, from_bytes, kind == hip::device_to_host || kind == hip::device_to_device);
}

/// Runs `body` in the calling thread, behind all work that the default stream waits for.
template <class Body>
void run_now(world_lock& lock, Body body) {
    wait_for_work(predecessors(*get_stream(nullptr)), lock);
    lock.unlock();
    body();
    lock.lock();
}

} // namespace

BARMAP_SIM_HIP hipMalloc(void** pointer, std::size_t bytes) {
    return call("hipMalloc", [&](world_lock&) {
        void*& told = out(pointer);
        told = nullptr;
        device& of = the_world().get_device(current_device());
        if (bytes == 0)
            return;
        require(bytes <= of.memory_size - of.memory_used, out_of_memory);
        void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        require(made != MAP_FAILED, out_of_memory);
        // Like that of a GPU, the memory holds what was there before.
        std::memset(made, 0xa5, bytes < 4096 ? bytes : 4096);
        auto const base = reinterpret_cast<std::uintptr_t>(made);
        the_world().allocations[base] = {base, bytes, current_device(), true};
        of.memory_used += bytes;
        told = made;
    });
}

BARMAP_SIM_HIP hipFree(void* pointer) {
    return call("hipFree", [&](world_lock& lock) {
        if (!pointer)
            return;
        world& all = the_world();
        auto const base = reinterpret_cast<std::uintptr_t>(pointer);
        auto const found = all.allocations.find(base);
        require(found != all.allocations.end() && found->second.on_device);
        int const ordinal = found->second.device;
        drain(ordinal, lock);
        auto const gone = all.allocations.extract(base);
        require(!gone.empty()); // another thread was faster
        all.get_device(ordinal).memory_used -= gone.mapped().size;
        munmap(pointer, gone.mapped().size);
    });
}

BARMAP_SIM_HIP hipMemGetInfo(std::size_t* available, std::size_t* total) {
    return call("hipMemGetInfo", [&](world_lock&) {
        device const& of = the_world().get_device(current_device());
        out(available) = of.memory_size - of.memory_used;
        out(total) = of.memory_size;
    });
}

BARMAP_SIM_HIP hipMemGetAddressRange(hip::address* base, std::size_t* bytes, hip::address inside) {
    return call("hipMemGetAddressRange", [&](world_lock&) {
        allocation const* const found = the_world().find(inside, 1);
        require(found && found->on_device);
        if (base)
            *base = reinterpret_cast<void*>(found->base);
        if (bytes)
            *bytes = found->size;
    });
}

BARMAP_SIM_HIP hipHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
    return call("hipHostRegister", [&](world_lock&) {
        constexpr unsigned known = 0xf;
        (void)the_world().get_device(current_device());
        require(pointer && bytes > 0 && (flags & ~known) == 0);
        auto const base = reinterpret_cast<std::uintptr_t>(pointer);
        auto const& all = the_world().allocations;
        auto const next = all.lower_bound(base);
        require(!the_world().find(pointer, 1) && (next == all.end() || next->first - base >= bytes),
                already_registered);
        the_world().allocations[base] = {base, bytes, current_device(), false};
    });
}

BARMAP_SIM_HIP hipHostUnregister(void* pointer) {
    return call("hipHostUnregister", [&](world_lock& lock) {
        auto& all = the_world().allocations;
        auto const base = reinterpret_cast<std::uintptr_t>(pointer);
        auto const found = all.find(base);
        require(found != all.end() && !found->second.on_device, not_registered);
        drain(found->second.device, lock);
        all.erase(base);
    });
}

BARMAP_SIM_HIP hipMemcpy(void* to, void const* from, std::size_t bytes, hip::copy_kind kind) {
    return call("hipMemcpy", [&](world_lock& lock) {
        if (bytes == 0)
            return;
        check_copy(to, bytes, from, bytes, kind);
        run_now(lock, [=] { std::memmove(to, from, bytes); });
    });
}

BARMAP_SIM_HIP hipMemcpyAsync(void* to, void const* from, std::size_t bytes, hip::copy_kind kind,
                              hip::stream stream) {
    return call("hipMemcpyAsync", [&](world_lock& lock) {
        auto const queue = get_stream(stream);
        if (bytes == 0)
            return;
        check_copy(to, bytes, from, bytes, kind);
        bool const pageable = !the_world().find(to, bytes) || !the_world().find(from, bytes);
        auto const done = submit(queue, [=] { std::memmove(to, from, bytes); });
        if (pageable)
            wait_for_work({done}, lock);
    });
}

BARMAP_SIM_HIP hipMemcpy2D(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                           std::size_t width, std::size_t rows, hip::copy_kind kind) {
    return call("hipMemcpy2D", [&](world_lock& lock) {
        if (width == 0 || rows == 0)
            return;
        require(width <= to_pitch && width <= from_pitch);
        check_copy(to, to_pitch * (rows - 1) + width, from, from_pitch * (rows - 1) + width, kind);
        run_now(lock, [=] {
            for (std::size_t row = 0; row < rows; ++row)
                std::memmove(static_cast<char*>(to) + row * to_pitch,
                             static_cast<char const*>(from) + row * from_pitch, width);
        });
    });
}

BARMAP_SIM_HIP hipMemsetAsync(void* to, int value, std::size_t bytes, hip::stream stream) {
    return call("hipMemsetAsync", [&](world_lock&) {
        auto const queue = get_stream(stream);
        if (bytes == 0)
            return;
        check_side(to, bytes, true);
        submit(queue, [=] { std::memset(to, value, bytes); });
    });
}

/// Allocations, registered host memory, streams and events that are alive: what a program that
/// cleans up after itself brings back to where it was.
extern "C" __attribute__((visibility("default"))) std::size_t barmap_sim_hip_live() {
    world& all = the_world();
    world_lock lock(all.mutex);
    return all.allocations.size() + all.streams.size() + all.events.size();
}

} // namespace barmap::sim_hip
