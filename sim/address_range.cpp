// SPDX-License-Identifier: MIT
#include "bar1.hpp"
#include "world.hpp"

#include "nvidia/rm.hpp"

#include <memory>
#include <optional>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

using namespace barmap::cuda;
using namespace barmap::sim;

namespace abi = barmap::rm::abi;

namespace {

/// An object, and the address of its first byte.
struct placed {
    physical* memory;
    std::uint64_t start;
    bool pooled = false;
};

/// The object behind an address, if the allocation lies in it too; that part may be another's.
std::optional<placed> behind(allocation const& one, CUdeviceptr address) {
    switch (one.kind) {
    case kind::device:
        if (address - one.addresses->base() < one.addresses->size())
            return placed{one.memory.get(), one.base - one.offset};
        break;
    case kind::chunk:
        if (address - one.base < one.size)
            return placed{one.memory.get(), one.base};
        break;
    case kind::pooled: {
        pool const& from = *one.from_pool;
        std::uint64_t const at = address - from.addresses->base();
        std::uint64_t const block = at / from.block_bytes;
        if (at < from.addresses->size() && block < from.blocks.size() && from.blocks[block])
            return placed{from.blocks[block].get(),
                          from.addresses->base() + block * from.block_bytes, true};
        break;
    }
    default:
        break;
    }
    return std::nullopt;
}

/// The objects of a range. Refuses with INVALID_VALUE where it has a hole.
std::vector<placed> objects_of(CUdeviceptr address, std::uint64_t bytes) {
    // Where the CPU's pages are larger than the object's, the last one counts as whole.
    auto const page = std::uint64_t(sysconf(_SC_PAGESIZE));
    std::vector<placed> result;
    for (CUdeviceptr at = address; at < address + bytes;) {
        std::optional<placed> found;
        for (auto const& [base, one] : the_world().addresses.all())
            if ((found = behind(one, at)))
                break;
        require(found.has_value());
        result.push_back(*found);
        at = found->start + round_up(found->memory->size(), page);
    }
    return result;
}

/// Tells the kernel driver what to export, as libcuda does, its errors of arithmetic included
/// (driver 580.159.04). Refuses with INVALID_VALUE what the kernel refuses; no kernel is there.
template <class Parameters>
void tell_kernel(std::vector<placed> const& objects, CUdeviceptr address, std::uint64_t bytes) {
    auto const told = std::make_unique<Parameters>();
    told->fd = -1;
    told->client = the_world().client;
    told->total_objects = std::uint32_t(objects.size());
    told->total_size = bytes;
    std::uint64_t done = 0;
    for (std::size_t k = 0; k < objects.size(); ++k) {
        std::uint32_t const here = k % abi::export_max_objects;
        if (here == 0)
            told->index = std::uint32_t(k);
        std::uint64_t const offset = done - (objects[k].start - address);
        std::uint64_t const size = objects[k].memory->size(), left = bytes - done;
        told->handles[here] = objects[k].memory->number();
        told->offsets[here] = offset;
        told->sizes[here] =
            objects[k].pooled ? std::min(size, left) - offset : std::min(size - offset, left);
        done += told->sizes[here];
        told->objects = here + 1;
        if (here + 1 < abi::export_max_objects && k + 1 < objects.size())
            continue;
        if (ioctl(-1, abi::request<Parameters>(abi::esc_export_to_dma_buf_fd), told.get()) == 0)
            require(told->status == abi::ok);
    }
}

void tell_kernel(std::vector<placed> const& objects, CUdeviceptr address, std::uint64_t bytes) {
    constexpr int first_with_mapping_type = 12080; // CUDA 12.8, driver 570
    if (the_world().driver_version < first_with_mapping_type)
        tell_kernel<abi::export_to_dma_buf_parameters_535>(objects, address, bytes);
    else
        tell_kernel<abi::export_to_dma_buf_parameters>(objects, address, bytes);
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
        require(bytes > 0 && bytes % page == 0 && address % page == 0 && address + bytes > address);
        int& told = out(static_cast<int*>(handle));
        std::vector<placed> objects = objects_of(address, bytes);
        tell_kernel(objects, address, bytes);
        placed const first = objects.front();
        // The kernel's answer to the sizes that libcuda tells it.
        require(!first.pooled || address == first.start || bytes >= first.memory->size());
        if (!the_world().dma_buf_maps) {
            told = eventfd(0, EFD_CLOEXEC); // something that cannot be mapped
            require(told >= 0, error_operating_system);
            return;
        }
        // A file can be made of neither several ones nor the middle of one.
        require(objects.size() == 1 && address == first.start, error_not_supported);
        physical& memory = *first.memory;
        int const ordinal = memory.ordinal();
        if (memory.offset() != 0) {
            drain_device(ordinal, lock);
            objects = objects_of(address, bytes); // others may have freed it meanwhile
            require(objects.front().memory == &memory);
            drop_header(memory);
        }
        // The real driver exports, and mapping fails; a file cannot be made to refuse that.
        device& owner = the_world().get_device(ordinal);
        require(fits_bar1(owner, bytes), error_out_of_memory);
        told = memory.export_fd();
        count_export(owner, memory, told, bytes);
    });
}
