// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

constexpr int location_type_host = 2;

void check_properties(CUmemAllocationProp const& asked) {
    require(asked.type == allocation_type_pinned);
    require(asked.location.type == location_type_device);
    (void)the_world().get_device(asked.location.id);
    require(asked.requestedHandleTypes == handle_type_none ||
                asked.requestedHandleTypes == handle_type_posix_fd,
            error_not_supported);
}

/// The chunks in [address, address + bytes), none of which it may cut. `mapped`: how many bytes
/// they are.
std::vector<allocation*> chunks_in(CUdeviceptr address, std::size_t bytes, std::size_t& mapped) {
    require(bytes > 0);
    auto& all = the_world().addresses.all();
    allocation const* const first = the_world().addresses.find(address);
    require(!first || first->base == address);
    std::vector<allocation*> chunks;
    mapped = 0;
    for (auto at = all.lower_bound(address); at != all.end() && at->first < address + bytes; ++at) {
        allocation& next = at->second;
        require(next.kind == kind::chunk && next.base + next.size <= address + bytes);
        chunks.push_back(&next);
        mapped += next.size;
    }
    return chunks;
}

std::shared_ptr<reservation> reservation_around(CUdeviceptr address, std::size_t bytes) {
    auto const& reserved = the_world().reserved;
    auto at = reserved.upper_bound(address);
    require(at != reserved.begin());
    --at;
    auto const& found = at->second;
    require(address - found->base() < found->size() &&
            bytes <= found->size() - (address - found->base()));
    return found;
}

CUmemGenericAllocationHandle add_handle(std::shared_ptr<memory_handle> made) {
    auto const handle = the_world().handles.add(made);
    made->self = handle;
    return handle;
}

// A handle stays good for queries as long as its memory is mapped somewhere.
void drop_if_unused(CUmemGenericAllocationHandle handle) {
    auto const found = the_world().handles.get(handle);
    if (found->references == 0 && found->mappings == 0)
        the_world().handles.take(handle);
}

} // namespace

BARMAP_SIM_ENTRY cuMemGetAllocationGranularity(std::size_t* bytes, CUmemAllocationProp const* of,
                                               int) {
    return call("cuMemGetAllocationGranularity", [&](world_lock&) {
        require(of != nullptr);
        check_properties(*of);
        out(bytes) = big_page;
    });
}

BARMAP_SIM_ENTRY cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                                     CUdeviceptr wish, unsigned long long flags) {
    return call("cuMemAddressReserve", [&](world_lock&) {
        require(bytes > 0 && bytes % big_page == 0 && flags == 0);
        require((alignment & (alignment - 1)) == 0 && wish % big_page == 0);
        CUdeviceptr& told = out(address);
        auto made = std::make_shared<reservation>(
            bytes, std::max<std::uint64_t>(alignment, big_page), wish);
        told = made->base();
        the_world().reserved.emplace(told, std::move(made));
    });
}

BARMAP_SIM_ENTRY cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
    return call("cuMemAddressFree", [&](world_lock&) {
        auto& reserved = the_world().reserved;
        auto const at = reserved.find(address);
        require(at != reserved.end() && at->second->size() == bytes);
        require(at->second.use_count() == 1); // nothing is mapped there
        reserved.erase(at);
    });
}

BARMAP_SIM_ENTRY cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                             CUmemAllocationProp const* properties, unsigned long long flags) {
    return call("cuMemCreate", [&](world_lock&) {
        require(properties != nullptr && flags == 0);
        check_properties(*properties);
        require(bytes > 0 && bytes % big_page == 0);
        auto& told = out(handle);
        auto made = std::make_shared<memory_handle>();
        made->properties = *properties;
        made->memory = physical::make(the_world().get_device(properties->location.id), bytes,
                                      properties->requestedHandleTypes == handle_type_posix_fd);
        told = add_handle(std::move(made));
    });
}

BARMAP_SIM_ENTRY cuMemRelease(CUmemGenericAllocationHandle handle) {
    return call("cuMemRelease", [&](world_lock&) {
        auto const found = the_world().handles.get(handle, error_invalid_value);
        require(found->references > 0);
        --found->references;
        drop_if_unused(handle);
    });
}

BARMAP_SIM_ENTRY cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                          CUmemGenericAllocationHandle handle, unsigned long long flags) {
    return call("cuMemMap", [&](world_lock&) {
        auto const from = the_world().handles.get(handle, error_invalid_value);
        require(flags == 0);
        require(offset == 0 && bytes == from->memory->size(), error_not_supported);
        auto const where = reservation_around(address, bytes);
        require(address % big_page == 0);
        auto const& all = the_world().addresses.all();
        auto const next = all.lower_bound(address);
        require(!the_world().addresses.find(address) &&
                (next == all.end() || next->first >= address + bytes));
        std::uint64_t const at = address - where->base();
        require(where->is_clear(at, bytes)); // another thread may be unmapping what is there
        where->place(at, *from->memory, 0, bytes);
        allocation added = allocation::in(where, at, bytes, kind::chunk, from->memory, 0);
        added.made_from = from;
        added.handle_types = from->properties.requestedHandleTypes;
        added.rdma_capable = from->properties.allocFlags.gpuDirectRDMACapable != 0;
        added.accessible = false;
        ++from->mappings;
        the_world().addresses.add(std::move(added));
    });
}

BARMAP_SIM_ENTRY cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
    return call("cuMemUnmap", [&](world_lock& lock) {
        // Holes may be unmapped as well.
        std::size_t mapped = 0;
        (void)reservation_around(address, bytes);
        std::set<int> devices;
        std::vector<std::weak_ptr<memory_use>> in_use;
        for (allocation const* const one : chunks_in(address, bytes, mapped)) {
            devices.insert(one->ordinal);
            in_use.emplace_back(one->use);
            auto const from = one->made_from;
            free_allocation(one->base);
            --from->mappings;
            drop_if_unused(from->self);
        }
        for (int const ordinal : devices)
            drain_device(ordinal, lock);
        for (auto const& use : in_use)
            the_world().changed.wait(lock, [&] { return use.expired(); });
    });
}

BARMAP_SIM_ENTRY cuMemSetAccess(CUdeviceptr address, std::size_t bytes, CUmemAccessDesc const* desc,
                                std::size_t count) {
    return call("cuMemSetAccess", [&](world_lock&) {
        require(desc != nullptr && count > 0);
        std::size_t mapped = 0;
        auto const chunks = chunks_in(address, bytes, mapped);
        require(mapped == bytes);
        for (std::size_t k = 0; k < count; ++k) {
            require(desc[k].location.type == location_type_device);
            (void)the_world().get_device(desc[k].location.id);
            require(desc[k].flags == 0 || desc[k].flags == 1 || desc[k].flags == access_read_write);
        }
        // Copies do not tell devices apart: an address is accessible if some device may access it.
        for (allocation* const one : chunks) {
            for (std::size_t k = 0; k < count; ++k)
                if (desc[k].flags != 0)
                    one->granted.insert(desc[k].location.id);
                else
                    one->granted.erase(desc[k].location.id);
            one->accessible = !one->granted.empty();
        }
    });
}

BARMAP_SIM_ENTRY cuMemGetAccess(unsigned long long* flags, CUmemLocation const* location,
                                CUdeviceptr address) {
    return call("cuMemGetAccess", [&](world_lock&) {
        require(location && location->type != location_type_host);
        allocation const* const found = the_world().addresses.find(address);
        require(found && found->kind == kind::chunk);
        out(flags) = found->granted.contains(location->id) ? access_read_write : 0;
    });
}

BARMAP_SIM_ENTRY cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                        CUmemGenericAllocationHandle handle) {
    return call("cuMemGetAllocationPropertiesFromHandle", [&](world_lock&) {
        out(properties) = the_world().handles.get(handle, error_invalid_value)->properties;
    });
}

BARMAP_SIM_ENTRY cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
    return call("cuMemRetainAllocationHandle", [&](world_lock&) {
        allocation const* const found =
            the_world().addresses.find(reinterpret_cast<CUdeviceptr>(address));
        require(found && found->kind == kind::chunk);
        auto& told = out(handle);
        ++found->made_from->references;
        told = found->made_from->self;
    });
}

BARMAP_SIM_ENTRY cuMemExportToShareableHandle(void* shared, CUmemGenericAllocationHandle handle,
                                              int type, unsigned long long flags) {
    return call("cuMemExportToShareableHandle", [&](world_lock&) {
        auto const found = the_world().handles.get(handle, error_invalid_value);
        require(flags == 0 && type == handle_type_posix_fd &&
                found->properties.requestedHandleTypes == type);
        out(static_cast<int*>(shared)) = found->memory->export_fd();
    });
}

BARMAP_SIM_ENTRY cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shared,
                                                int type) {
    return call("cuMemImportFromShareableHandle", [&](world_lock&) {
        require(type == handle_type_posix_fd);
        auto& told = out(handle);
        auto made = std::make_shared<memory_handle>();
        made->memory = physical::from_shared(shared, true);
        made->properties.type = allocation_type_pinned;
        made->properties.requestedHandleTypes = handle_type_posix_fd;
        made->properties.location = {location_type_device, made->memory->ordinal()};
        told = add_handle(std::move(made));
    });
}
