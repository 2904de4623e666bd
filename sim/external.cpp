// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

bool can_be_mapped(int fd) {
    void* const at = mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return false;
    munmap(at, 1);
    return true;
}

} // namespace

BARMAP_SIM_ENTRY cuImportExternalMemory(CUexternalMemory* handle,
                                        CUDA_EXTERNAL_MEMORY_HANDLE_DESC const* desc) {
    return call("cuImportExternalMemory", [&](world_lock&) {
        device& owner = *current_context().device;
        auto& told = out(handle);
        require(desc != nullptr && desc->size > 0);
        require(desc->type == external_handle_opaque_fd, error_not_supported);
        int const fd = desc->handle.fd;
        struct stat about {};
        require(fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && can_be_mapped(fd),
                error_unknown);
        std::uint64_t const offset = data_offset_of(fd);
        require(desc->size <= std::uint64_t(about.st_size) - offset);
        auto made = std::make_shared<external_memory>();
        made->size = desc->size;
        // The descriptor is the driver's from now on.
        made->memory = physical::adopt(owner, fd, offset, desc->size);
        told = the_world().externals.add(std::move(made));
    });
}

BARMAP_SIM_ENTRY cuExternalMemoryGetMappedBuffer(CUdeviceptr* address, CUexternalMemory handle,
                                                 CUDA_EXTERNAL_MEMORY_BUFFER_DESC const* desc) {
    return call("cuExternalMemoryGetMappedBuffer", [&](world_lock&) {
        context const& here = current_context();
        auto const from = the_world().externals.get(handle);
        CUdeviceptr& told = out(address);
        require(desc && desc->flags == 0 && desc->size > 0 && desc->offset < from->size &&
                desc->size <= from->size - desc->offset);
        auto const page = std::uint64_t(sysconf(_SC_PAGESIZE));
        std::uint64_t const start = desc->offset / page * page;
        std::uint64_t const inside = desc->offset - start;
        std::uint64_t const bytes = round_up(inside + desc->size, page);
        auto const range = std::make_shared<reservation>(bytes, big_page);
        range->place(0, *from->memory, start, bytes);
        allocation added =
            allocation::in(range, inside, desc->size, kind::external, from->memory, desc->offset);
        added.context = here.self;
        told = the_world().addresses.add(std::move(added)).base;
    });
}

BARMAP_SIM_ENTRY cuDestroyExternalMemory(CUexternalMemory handle) {
    return call("cuDestroyExternalMemory",
                [&](world_lock&) { the_world().externals.take(handle); });
}

// Nothing is ever in flight between the simulated bus and the memory.
BARMAP_SIM_ENTRY cuFlushGPUDirectRDMAWrites(int target, int) {
    return call("cuFlushGPUDirectRDMAWrites", [&](world_lock&) {
        require(target == 0);
        (void)current_context();
    });
}
