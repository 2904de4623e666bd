// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <cstring>

namespace barmap::sim {
namespace {

/// Whether an allocation lies in a block.
bool is_used(pool const& of, std::uint64_t block) {
    std::uint64_t const begin = block * of.block_bytes, end = begin + of.block_bytes;
    for (auto const& [offset, bytes] : of.taken)
        if (offset < end && offset + bytes > begin)
            return true;
    return false;
}

} // namespace

CUmemoryPool default_pool(device& of) {
    if (!of.default_pool) {
        auto made = std::make_shared<pool>();
        made->ordinal = of.ordinal;
        made->is_default = true;
        of.default_pool = the_world().pools.add(made);
        of.current_pool = of.default_pool;
    }
    return of.default_pool;
}

void leave_pool(allocation const& freed) {
    pool& from = *freed.from_pool;
    if (from.imported)
        return;
    std::uint64_t const bytes = round_up(freed.size, suballocator::quantum);
    from.space.give_back(freed.offset, freed.size);
    from.taken.erase(freed.offset);
    from.used -= bytes;
    the_world().devices[std::size_t(from.ordinal)]->memory_used -= bytes;
    // A block without an allocation is freed, unless another process may have it mapped.
    std::uint64_t const first = freed.offset / from.block_bytes;
    std::uint64_t const last = (freed.offset + freed.size - 1) / from.block_bytes;
    for (std::uint64_t block = first; block <= last; ++block) {
        if (from.blocks[block]->exported() || is_used(from, block))
            continue;
        from.addresses->clear(block * from.block_bytes, from.blocks[block]->size());
        from.blocks[block].reset();
    }
}

backing allocation::backing_at(std::uint64_t inside) const {
    if (!from_pool)
        return {memory.get(), offset + inside, size - inside};
    std::uint64_t const at = offset + inside;
    physical& block = *from_pool->blocks[at / from_pool->block_bytes];
    std::uint64_t const in_block = at % from_pool->block_bytes;
    return {&block, in_block, std::min(size - inside, block.size() - in_block)};
}

} // namespace barmap::sim

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

// CUmemPool_attribute
constexpr int release_threshold = 4;
constexpr int reserved_current = 5;
constexpr int reserved_high = 6;
constexpr int used_current = 7;
constexpr int used_high = 8;

/// The contents of cuMemPoolExportPointer's 64 bytes.
struct exported_pointer {
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t reserved[6];
};
static_assert(sizeof(exported_pointer) == 64);

std::shared_ptr<pool> get_pool(CUmemoryPool handle) {
    return the_world().pools.get(handle, error_invalid_value);
}

/// Addresses below 2^40, as those of the driver's pools (580.159.04), if some of the first are
/// free.
std::shared_ptr<reservation> low_addresses(std::uint64_t bytes) {
    constexpr CUdeviceptr first = 0x1000'0000;
    std::shared_ptr<reservation> result;
    for (std::uint64_t i = 0; i < 16; ++i) {
        result = std::make_shared<reservation>(bytes, big_page, first + i * (bytes + big_page));
        if (result->base() >> 40 == 0)
            break;
    }
    return result;
}

/// Gives a pool addresses for so much memory, in blocks that are not there yet.
void open_addresses(pool& of, std::uint64_t bytes, std::uint64_t block_bytes) {
    of.addresses = low_addresses(round_up(bytes, big_page));
    of.block_bytes = block_bytes;
    of.blocks.resize((bytes + block_bytes - 1) / block_bytes);
    of.space = suballocator(bytes);
}

void place_block(pool& of, std::uint64_t number, std::shared_ptr<physical> block) {
    of.addresses->place(number * of.block_bytes, *block, 0, block->size());
    of.blocks[number] = std::move(block);
}

/// Makes the missing blocks of [offset, offset + bytes) of a pool. Memory that the pool hands out
/// of them counts as used.
void make_blocks(pool& of, std::uint64_t offset, std::uint64_t bytes) {
    device& owner = the_world().get_device(of.ordinal);
    for (auto k = offset / of.block_bytes; k * of.block_bytes < offset + bytes; ++k) {
        if (of.blocks[k])
            continue;
        auto const rest = owner.memory_size - k * of.block_bytes;
        place_block(of, k, physical::make_uncounted(owner, std::min(rest, of.block_bytes)));
    }
}

void open_pool(pool& of) {
    if (of.addresses)
        return;
    std::uint64_t const all = the_world().get_device(of.ordinal).memory_size;
    open_addresses(of, all, of.handle_types ? all : std::min(all, pool_block));
}

allocation pool_allocation(CUmemoryPool handle, std::shared_ptr<pool> const& from,
                           std::uint64_t offset, std::uint64_t bytes) {
    allocation added = allocation::in(from->addresses, offset, bytes, kind::pooled,
                                      from->blocks[offset / from->block_bytes], offset);
    added.pool = handle;
    added.from_pool = from;
    added.handle_types = from->handle_types;
    return added;
}

CUresult allocate(CUdeviceptr* address, std::size_t bytes, CUmemoryPool handle) {
    auto const from = get_pool(handle);
    CUdeviceptr& told = out(address);
    require(bytes > 0 && !from->imported);
    device& owner = the_world().get_device(from->ordinal);
    std::uint64_t const counted = round_up(bytes, suballocator::quantum);
    require(counted >= bytes && counted <= owner.memory_size - owner.memory_used,
            error_out_of_memory);
    open_pool(*from);
    auto const offset = from->space.take(bytes);
    require(offset.has_value(), error_out_of_memory);
    make_blocks(*from, *offset, bytes);
    from->taken.emplace(*offset, bytes);
    owner.memory_used += counted;
    from->used += counted;
    from->used_high = std::max(from->used_high, from->used);
    told = the_world().addresses.add(pool_allocation(handle, from, *offset, bytes)).base;
    return success;
}

} // namespace

BARMAP_SIM_ENTRY cuDeviceGetDefaultMemPool(CUmemoryPool* handle, CUdevice ordinal) {
    return call("cuDeviceGetDefaultMemPool",
                [&](world_lock&) { out(handle) = default_pool(the_world().get_device(ordinal)); });
}

BARMAP_SIM_ENTRY cuDeviceGetMemPool(CUmemoryPool* handle, CUdevice ordinal) {
    return call("cuDeviceGetMemPool", [&](world_lock&) {
        device& of = the_world().get_device(ordinal);
        (void)default_pool(of);
        out(handle) = of.current_pool;
    });
}

BARMAP_SIM_ENTRY cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle) {
    return call("cuDeviceSetMemPool", [&](world_lock&) {
        device& of = the_world().get_device(ordinal);
        (void)default_pool(of);
        require(get_pool(handle)->ordinal == ordinal && !get_pool(handle)->imported);
        of.current_pool = handle;
    });
}

BARMAP_SIM_ENTRY cuMemPoolCreate(CUmemoryPool* handle, CUmemPoolProps const* properties) {
    return call("cuMemPoolCreate", [&](world_lock&) {
        require(properties && properties->allocType == allocation_type_pinned &&
                properties->location.type == location_type_device);
        require(properties->handleTypes == handle_type_none ||
                properties->handleTypes == handle_type_posix_fd);
        auto made = std::make_shared<pool>();
        made->ordinal = the_world().get_device(properties->location.id).ordinal;
        made->handle_types = properties->handleTypes;
        out(handle) = the_world().pools.add(made);
    });
}

BARMAP_SIM_ENTRY cuMemPoolDestroy(CUmemoryPool handle) {
    return call("cuMemPoolDestroy", [&](world_lock&) {
        auto const found = get_pool(handle);
        require(!found->is_default);
        the_world().pools.take(handle);
        device& of = the_world().get_device(found->ordinal);
        if (of.current_pool == handle)
            of.current_pool = of.default_pool;
    });
}

BARMAP_SIM_ENTRY cuMemPoolTrimTo(CUmemoryPool handle, std::size_t) {
    return call("cuMemPoolTrimTo", [&](world_lock&) { (void)get_pool(handle); });
}

BARMAP_SIM_ENTRY cuMemPoolSetAttribute(CUmemoryPool handle, int which, void* value) {
    return call("cuMemPoolSetAttribute", [&](world_lock&) {
        auto const of = get_pool(handle);
        require(value && which >= 1 && which <= used_high);
        if (which < release_threshold)
            std::memcpy(&of->switches[which], value, sizeof(int));
        else if (which == release_threshold)
            std::memcpy(&of->release_threshold, value, sizeof of->release_threshold);
        else if (which == used_high || which == reserved_high)
            of->used_high = of->used; // the one value that may be set is 0: forget the high mark
        else
            refuse(error_invalid_value);
    });
}

BARMAP_SIM_ENTRY cuMemPoolGetAttribute(CUmemoryPool handle, int which, void* value) {
    return call("cuMemPoolGetAttribute", [&](world_lock&) {
        auto const of = get_pool(handle);
        require(value && which >= 1 && which <= used_high);
        if (which < release_threshold) {
            auto const at = of->switches.find(which);
            int const told = at == of->switches.end() ? 1 : at->second;
            std::memcpy(value, &told, sizeof told);
            return;
        }
        std::uint64_t told = of->release_threshold;
        if (which == used_current || which == reserved_current)
            told = of->used;
        else if (which == used_high || which == reserved_high)
            told = of->used_high;
        std::memcpy(value, &told, sizeof told);
    });
}

BARMAP_SIM_ENTRY cuMemPoolSetAccess(CUmemoryPool handle, CUmemAccessDesc const* desc,
                                    std::size_t count) {
    return call("cuMemPoolSetAccess", [&](world_lock&) {
        auto const of = get_pool(handle);
        for (std::size_t k = 0; k < count; ++k) {
            int const ordinal = the_world().get_device(out(desc + k).location.id).ordinal;
            if (desc[k].flags != 0)
                of->granted.insert(ordinal);
            else
                of->granted.erase(ordinal);
        }
    });
}

BARMAP_SIM_ENTRY cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
    return call("cuMemAllocAsync", [&](world_lock&) {
        device& of = *live_context(get_stream(stream)->owner).device;
        (void)default_pool(of);
        return allocate(address, bytes, of.current_pool);
    });
}

BARMAP_SIM_ENTRY cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                         CUstream stream) {
    return call("cuMemAllocFromPoolAsync", [&](world_lock&) {
        (void)get_stream(stream);
        return allocate(address, bytes, pool);
    });
}

BARMAP_SIM_ENTRY cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    return call("cuMemFreeAsync", [&](world_lock&) {
        auto const queue = get_stream(stream);
        allocation& found = the_world().addresses.at(address);
        require((found.kind == kind::pooled || found.kind == kind::device) && !found.leaving);
        found.leaving = true;
        the_world().work.submit(queue, [address, id = found.id] {
            world_lock lock(world_mutex());
            allocation* const freed = the_world().addresses.find(address);
            if (freed && freed->id == id)
                free_allocation(address);
        });
    });
}

BARMAP_SIM_ENTRY cuMemPoolExportToShareableHandle(void* shared, CUmemoryPool handle, int type,
                                                  unsigned long long flags) {
    return call("cuMemPoolExportToShareableHandle", [&](world_lock&) {
        auto const found = get_pool(handle);
        require(type == handle_type_posix_fd && found->handle_types == type && flags == 0);
        open_pool(*found);
        make_blocks(*found, 0, 1);
        out(static_cast<int*>(shared)) = found->blocks.front()->export_fd();
    });
}

BARMAP_SIM_ENTRY cuMemPoolImportFromShareableHandle(CUmemoryPool* handle, void* shared, int type,
                                                    unsigned long long flags) {
    return call("cuMemPoolImportFromShareableHandle", [&](world_lock&) {
        require(type == handle_type_posix_fd && flags == 0);
        auto& told = out(handle);
        auto made = std::make_shared<pool>();
        auto memory = physical::from_shared(shared, false);
        made->ordinal = memory->ordinal();
        made->handle_types = type;
        made->imported = true;
        open_addresses(*made, memory->size(), memory->size());
        place_block(*made, 0, std::move(memory));
        told = the_world().pools.add(made);
    });
}

BARMAP_SIM_ENTRY cuMemPoolExportPointer(exported_pointer* data, CUdeviceptr address) {
    return call("cuMemPoolExportPointer", [&](world_lock&) {
        allocation const& found = the_world().addresses.at(address);
        require(found.kind == kind::pooled && found.handle_types != 0);
        out(data) = {found.offset, found.size, {}};
    });
}

BARMAP_SIM_ENTRY cuMemPoolImportPointer(CUdeviceptr* address, CUmemoryPool handle,
                                        exported_pointer const* data) {
    return call("cuMemPoolImportPointer", [&](world_lock&) {
        auto const from = get_pool(handle);
        require(from->imported && data && data->offset < from->block_bytes &&
                data->size <= from->block_bytes - data->offset);
        auto& told = out(address);
        told =
            the_world().addresses.add(pool_allocation(handle, from, data->offset, data->size)).base;
    });
}
