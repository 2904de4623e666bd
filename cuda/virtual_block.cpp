// SPDX-License-Identifier: MIT
#include "cuda/virtual_block.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"

#include <limits>
#include <optional>
#include <string>

namespace barmap::cuda {
namespace {

CUmemAllocationProp properties_for(CUdevice device, bool exportable) {
    CUmemAllocationProp result{};
    result.type = allocation_type_pinned;
    result.requestedHandleTypes = exportable ? handle_type_posix_fd : handle_type_none;
    result.location = {location_type_device, device};
    // gdrdrv and dmabuf need it; where the GPU lacks it, asking for it would be refused.
    int capable = 0;
    check(api().device_get_attribute(&capable, attribute_gpu_direct_rdma_of_virtual_memory, device),
          "read whether VMM memory can be used by GPUDirect RDMA");
    result.allocFlags.gpuDirectRDMACapable = capable != 0;
    return result;
}

/// The next multiple, or the largest one there is: the driver then says that it is too much.
std::size_t round_up(std::size_t bytes, std::size_t granule) noexcept {
    std::size_t const most = std::numeric_limits<std::size_t>::max() / granule * granule;
    return bytes > most ? most : (bytes + granule - 1) / granule * granule;
}

/// The handle of physical memory, which is freed unless an address refers to it by then.
class physical_memory {
public:
    physical_memory(std::size_t bytes, CUmemAllocationProp const& properties,
                    std::string const& operation) {
        check(api().mem_create(&handle_, bytes, &properties, 0), operation,
              "free GPU memory, or ask for less");
    }
    physical_memory(physical_memory const&) = delete;
    physical_memory& operator=(physical_memory const&) = delete;
    ~physical_memory() { api().mem_release(handle_); }
    [[nodiscard]] CUmemGenericAllocationHandle handle() const noexcept { return handle_; }

private:
    CUmemGenericAllocationHandle handle_ = 0;
};

} // namespace

virtual_block::virtual_block(CUdevice device) noexcept
    : owner_(os::this_process()), device_(device) {}

// Delegating makes the object whole first, so that its destructor undoes what is half done.
virtual_block::virtual_block(CUdevice device, std::size_t bytes, bool exportable)
    : virtual_block(device) {
    driver_api const& cu = api();
    // VMM memory belongs to no context, but drivers need not serve a thread that has none.
    context_scope const scope = context_scope::any(device);
    watch_exit();
    std::string const operation = "allocate " + std::to_string(bytes) + " bytes of GPU memory";
    constexpr char const* addresses = "the process has used up its GPU addresses, or the driver "
                                      "does not support VMM memory here: use another backend";
    CUmemAllocationProp const properties = properties_for(device, exportable);
    std::size_t granule = 0;
    check(cu.mem_get_allocation_granularity(&granule, &properties, granularity_minimum), operation,
          addresses);
    if (granule == 0)
        throw error(errc::unknown_layout, operation, "",
                    "the driver reports no granularity of VMM memory: use another backend");
    size_ = round_up(bytes, granule);
    physical_memory const memory(size_, properties, operation);
    CUresult const reserved = cu.mem_address_reserve(&address_, size_, 0, 0, 0);
    if (reserved != success)
        address_ = 0;
    check(reserved, operation, addresses);
    CUresult const mapped = cu.mem_map(address_, size_, 0, memory.handle(), 0);
    mapped_ = mapped == success;
    check(mapped, operation, addresses);
    CUmemAccessDesc const access{properties.location, access_read_write};
    check(cu.mem_set_access(address_, size_, &access, 1), operation, addresses);
}

virtual_block::~virtual_block() {
    if (!address_ || !drivers_are_up(owner_))
        return;
    driver_api const& cu = api(); // it was there when the addresses were reserved
    std::optional<context_scope> scope;
    try {
        scope.emplace(context_scope::on_device(device_));
    } catch (error const&) {
        // The driver may do it without.
    }
    // As cuMemFree does, where the driver does not (580.159.04 unmaps at once): a kernel that uses
    // unmapped memory ends its context. Work in other contexts on this GPU is its owner's to end.
    if (scope)
        cu.ctx_synchronize();
    if (mapped_)
        cu.mem_unmap(address_, size_);
    cu.mem_address_free(address_, size_);
}

} // namespace barmap::cuda
