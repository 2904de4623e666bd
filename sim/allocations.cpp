// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

namespace barmap::sim {
namespace {

// Allocations up to this size share backing objects of one big page; larger ones have their own:
// one big page, or above that the size rounded up to small pages (driver 580.159.04). So the last
// 64 KiB of a large allocation are seldom whole.
constexpr std::uint64_t own_object = 1 << 20;

constexpr std::uint64_t object_size(std::uint64_t bytes) noexcept {
    return bytes > big_page ? round_up(bytes, small_page) : big_page;
}

struct place {
    std::shared_ptr<physical> memory;
    std::shared_ptr<reservation> addresses;
    std::uint64_t offset = 0;
};

std::uint64_t whole_pages(std::uint64_t bytes) {
    return round_up(bytes, std::uint64_t(sysconf(_SC_PAGESIZE)));
}

std::shared_ptr<shared_block> make_backing(device& of, std::uint64_t bytes) {
    auto made = std::make_shared<shared_block>();
    made->memory = physical::make(of, bytes, false);
    made->addresses = std::make_shared<reservation>(whole_pages(bytes), big_page);
    made->addresses->place(0, *made->memory, 0, bytes);
    made->space = suballocator(bytes);
    return made;
}

place find_place(context& in, std::uint64_t bytes) {
    if (bytes > own_object) {
        auto const own = make_backing(*in.device, object_size(bytes));
        return {own->memory, own->addresses, 0};
    }
    for (auto const& shared : in.arenas)
        if (auto const offset = shared->space.take(bytes))
            return {shared->memory, shared->addresses, *offset};
    auto const added = in.arenas.emplace_back(make_backing(*in.device, big_page));
    return {added->memory, added->addresses, *added->space.take(bytes)};
}

void leave_place(allocation const& freed) {
    auto const owner = the_world().contexts.find(freed.context);
    if (!owner)
        return;
    for (auto const& shared : owner->arenas)
        if (shared->memory == freed.memory)
            shared->space.give_back(freed.offset, freed.size);
    std::erase_if(owner->arenas, [](auto const& shared) { return shared->space.untouched(); });
}

std::byte* map_host(std::uint64_t bytes) {
    void* const at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(at != MAP_FAILED, cuda::error_out_of_memory);
    return static_cast<std::byte*>(at);
}

allocation& add_host(sim::kind kind, context& owner, std::byte* at, std::uint64_t bytes,
                     unsigned flags) {
    allocation added;
    added.kind = kind;
    added.base = reinterpret_cast<CUdeviceptr>(at);
    added.view = at;
    added.size = bytes;
    added.context = owner.self;
    added.ordinal = owner.device->ordinal;
    added.flags = flags;
    return the_world().addresses.add(std::move(added));
}

} // namespace

namespace {

void return_memory(allocation const& freed) {
    switch (freed.kind) {
    case kind::device:
        leave_place(freed);
        break;
    case kind::pooled:
        leave_pool(freed);
        break;
    case kind::managed:
    case kind::host:
        munmap(freed.view, whole_pages(freed.size));
        break;
    case kind::chunk:
        freed.addresses->clear(freed.base - freed.addresses->base(), freed.size);
        break;
    default:
        break;
    }
}

} // namespace

void free_allocation(CUdeviceptr base) {
    allocation freed = the_world().addresses.remove(base);
    auto const use = std::move(freed.use);
    use->at_end = [freed = std::move(freed)] { return_memory(freed); };
}

void free_and_wait(CUdeviceptr base, world_lock& lock) {
    allocation const& freed = the_world().addresses.at(base);
    std::weak_ptr<memory_use> const use = freed.use;
    int const ordinal = freed.ordinal;
    free_allocation(base);
    drain_device(ordinal, lock);
    the_world().changed.wait(lock, [&] { return use.expired(); });
}

void release_memory(context& of) {
    std::vector<CUdeviceptr> owned;
    for (auto const& [base, one] : the_world().addresses.all())
        if (one.context == of.self)
            owned.push_back(base);
    for (CUdeviceptr const base : owned)
        free_allocation(base);
    of.arenas.clear();
}

} // namespace barmap::sim

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

/// Flags that cuMemHostAlloc and cuMemHostRegister know.
constexpr unsigned host_flags = 0xf;
constexpr unsigned device_map = 2; ///< always in force

/// As pinning does: a file of memory has all of its pages then.
void populate(std::byte const volatile* memory, std::size_t bytes) {
    constexpr std::size_t page = 4096; // or more
    for (std::size_t at = 0; at < bytes; at += page)
        (void)memory[at];
    (void)memory[bytes - 1];
}

CUresult host_alloc(void** pointer, std::size_t bytes, unsigned flags) {
    context& owner = current_context();
    require(bytes > 0 && (flags & ~host_flags) == 0);
    void*& told = out(pointer);
    told = add_host(kind::host, owner, map_host(bytes), bytes, flags).view;
    return success;
}

CUdeviceptr allocate(std::uint64_t bytes) {
    context& owner = current_context();
    require(bytes > 0);
    require(bytes <= owner.device->memory_size, error_out_of_memory);
    place const where = find_place(owner, bytes);
    allocation added = allocation::in(where.addresses, where.offset, bytes, kind::device,
                                      where.memory, where.offset);
    added.context = owner.self;
    added.rdma_capable = true;
    return the_world().addresses.add(std::move(added)).base;
}

allocation& host_memory(void const* pointer) {
    allocation* const found = the_world().addresses.find(reinterpret_cast<CUdeviceptr>(pointer));
    require(found && (found->kind == kind::host || found->kind == kind::registered));
    return *found;
}

} // namespace

BARMAP_SIM_ENTRY cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
    return call("cuMemAlloc", [&](world_lock&) { out(address) = allocate(bytes); });
}

BARMAP_SIM_ENTRY cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                                    std::size_t height, unsigned element) {
    return call("cuMemAllocPitch", [&](world_lock&) {
        require(element == 4 || element == 8 || element == 16);
        std::size_t& told = out(pitch);
        std::uint64_t const padded = round_up(width, suballocator::quantum);
        std::uint64_t bytes = 0;
        require(padded >= width && !__builtin_mul_overflow(padded, height, &bytes),
                error_out_of_memory);
        out(address) = allocate(bytes);
        told = padded;
    });
}

BARMAP_SIM_ENTRY cuMemFree_v2(CUdeviceptr address) {
    return call("cuMemFree", [&](world_lock& lock) {
        if (!address)
            return;
        // The calling thread needs no context (driver 580.159.04).
        allocation const& found = the_world().addresses.at(address);
        require(found.kind == kind::device || found.kind == kind::managed ||
                found.kind == kind::pooled || found.kind == kind::external);
        free_and_wait(address, lock);
    });
}

BARMAP_SIM_ENTRY cuMemGetInfo_v2(std::size_t* unused, std::size_t* total) {
    return call("cuMemGetInfo", [&](world_lock&) {
        device const& of = *current_context().device;
        out(unused) = of.memory_size - of.memory_used;
        out(total) = of.memory_size;
    });
}

BARMAP_SIM_ENTRY cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes,
                                         CUdeviceptr address) {
    return call("cuMemGetAddressRange", [&](world_lock&) {
        (void)current_context();
        allocation const* const found = the_world().addresses.find(address);
        require(found && found->accessible, error_not_found);
        if (base)
            *base = found->base;
        if (bytes)
            *bytes = found->size;
    });
}

BARMAP_SIM_ENTRY cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
    return call("cuMemAllocManaged", [&](world_lock&) {
        context& owner = current_context();
        require(bytes > 0 && (flags == mem_attach_global || flags == 2));
        CUdeviceptr& told = out(address);
        told = add_host(kind::managed, owner, map_host(bytes), bytes, flags).base;
    });
}

BARMAP_SIM_ENTRY cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
    return call("cuMemHostAlloc", [&](world_lock&) { return host_alloc(pointer, bytes, flags); });
}

BARMAP_SIM_ENTRY cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
    return call("cuMemAllocHost", [&](world_lock&) { return host_alloc(pointer, bytes, 0); });
}

BARMAP_SIM_ENTRY cuMemFreeHost(void* pointer) {
    return call("cuMemFreeHost", [&](world_lock& lock) {
        (void)current_context();
        allocation const& found = the_world().addresses.at(reinterpret_cast<CUdeviceptr>(pointer));
        require(found.kind == kind::host);
        free_and_wait(found.base, lock);
    });
}

BARMAP_SIM_ENTRY cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned flags) {
    return call("cuMemHostRegister", [&](world_lock&) {
        context& owner = current_context();
        require(pointer && bytes > 0 && (flags & ~host_flags) == 0);
        auto const first = reinterpret_cast<CUdeviceptr>(pointer);
        auto const& all = the_world().addresses.all();
        auto const next = all.lower_bound(first);
        require(!the_world().addresses.find(first) &&
                    (next == all.end() || next->first >= first + bytes),
                error_host_already_registered);
        add_host(kind::registered, owner, static_cast<std::byte*>(pointer), bytes, flags);
        populate(static_cast<std::byte*>(pointer), bytes);
    });
}

BARMAP_SIM_ENTRY cuMemHostUnregister(void* pointer) {
    return call("cuMemHostUnregister", [&](world_lock& lock) {
        (void)current_context();
        auto const base = reinterpret_cast<CUdeviceptr>(pointer);
        auto const& all = the_world().addresses.all();
        auto const found = all.find(base);
        require(found != all.end() && found->second.kind == kind::registered,
                error_host_not_registered);
        free_and_wait(base, lock);
    });
}

BARMAP_SIM_ENTRY cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned flags) {
    return call("cuMemHostGetDevicePointer", [&](world_lock&) {
        (void)current_context();
        require(flags == 0);
        (void)host_memory(pointer);
        out(address) = reinterpret_cast<CUdeviceptr>(pointer);
    });
}

BARMAP_SIM_ENTRY cuMemHostGetFlags(unsigned* flags, void* pointer) {
    return call("cuMemHostGetFlags",
                [&](world_lock&) { out(flags) = host_memory(pointer).flags | device_map; });
}
