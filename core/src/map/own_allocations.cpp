// SPDX-License-Identifier: MIT
#include "map/own_allocations.hpp"

#include "cuda/driver_api.hpp"

#include <algorithm>

namespace barmap {
namespace {

unsigned long long id_of(CUdeviceptr address) {
    unsigned long long id = 0;
    cuda::check(cuda::api().pointer_get_attribute(&id, cuda::pointer_buffer_id, address),
                "identify an allocation");
    return id;
}

/// The end of the wanted range, in the addresses of the allocation itself.
CUdeviceptr last_wanted(cuda::memory const& memory) {
    cuda::allocation_part const& chunk = memory.chunks.back();
    return chunk.base + chunk.offset + chunk.length;
}

} // namespace

void own_allocations::add(CUdeviceptr address, std::size_t size,
                          std::shared_ptr<os::fd const> const& exported) {
    unsigned long long const id = id_of(address);
    std::lock_guard const guard(lock_);
    list_.push_back({address, size, id, exported});
}

void own_allocations::find(cuda::memory& memory) {
    if (memory.kind != memory_kind::imported)
        return;
    unsigned long long const id = id_of(memory.address);
    std::lock_guard const guard(lock_);
    std::erase_if(list_, [](allocation const& entry) { return entry.exported.expired(); });
    for (allocation const& entry : list_) {
        CUdeviceptr const end = entry.address + entry.size;
        if (entry.id != id || memory.address < entry.address || last_wanted(memory) > end)
            continue;
        memory.exported = entry.exported.lock();
        memory.kind = memory_kind::allocated;
        std::size_t const length = std::min(memory.address + memory.size, end) - memory.address;
        memory.chunks = {{entry.address, entry.size,
                          static_cast<std::size_t>(memory.address - entry.address), length, 0,
                          memory.size - length}};
        return;
    }
}

} // namespace barmap
