// SPDX-License-Identifier: MIT
#include "bar1.hpp"
#include "world.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

/// The allocation whose backing object contains the address, be it live itself or not.
allocation* backed_at(CUdeviceptr address) {
    auto& addresses = the_world().addresses;
    if (allocation* const found = addresses.find(address))
        return found;
    for (auto& [base, one] : addresses.all())
        if (one.kind == kind::device && address - one.addresses->base() < one.addresses->size())
            return &one;
    return nullptr;
}

// The file has to start with the memory. Everybody who mapped it with its header maps it again, so
// it must not have left this process.
void drop_header(physical& memory) {
    require(!memory.exported(), error_not_supported);
    memory.drop_header();
    for (auto const& [base, one] : the_world().addresses.all())
        if (one.memory.get() == &memory)
            one.addresses->place(base - one.addresses->base(), memory, one.offset, one.size);
}

} // namespace

BARMAP_SIM_ENTRY cuMemGetHandleForAddressRange(void* handle, CUdeviceptr address, std::size_t bytes,
                                               int type, unsigned long long flags) {
    return call("cuMemGetHandleForAddressRange", [&](world_lock& lock) {
        (void)current_context();
        auto const page = std::uint64_t(sysconf(_SC_PAGESIZE));
        require(type == range_handle_dma_buf_fd && flags <= 1);
        require(bytes > 0 && bytes % page == 0 && address % page == 0);
        int& told = out(static_cast<int*>(handle));
        allocation* found = backed_at(address);
        require(found && (found->kind == kind::device || found->kind == kind::chunk ||
                          found->kind == kind::pooled));
        std::uint64_t const object_base = found->base - found->offset;
        // Where the CPU's pages are larger than the object's, the last one counts as whole.
        std::uint64_t const object_end = object_base + round_up(found->memory->size(), page);
        require(address < object_end && bytes <= object_end - address);
        if (!the_world().dma_buf_maps) {
            told = eventfd(0, EFD_CLOEXEC); // something that cannot be mapped
            require(told >= 0, error_operating_system);
            return;
        }
        // A file cannot be made to start in the middle of another one.
        require(address == object_base, error_not_supported);
        if (found->memory->offset() != 0) {
            drain_device(found->ordinal, lock);
            found = &the_world().addresses.at(object_base);
            drop_header(*found->memory);
        }
        // The real driver exports, and mapping fails; a file cannot be made to refuse that.
        device& owner = the_world().get_device(found->ordinal);
        require(fits_bar1(owner, bytes), error_out_of_memory);
        told = found->memory->export_fd();
        count_export(owner, *found->memory, told, bytes);
    });
}
