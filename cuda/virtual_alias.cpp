// SPDX-License-Identifier: MIT
#include "cuda/virtual_alias.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"
#include "cuda/driver_lifetime.hpp"

#include <barmap/error.hpp>

#include <optional>

namespace barmap::cuda {
namespace {

constexpr char what[] = "map VMM memory at addresses of the library";

/// A reference to the physical memory of a chunk.
class chunk_handle {
public:
    explicit chunk_handle(allocation_part const& of) {
        is_there_ = api().mem_retain_allocation_handle(&handle_,
                                                       reinterpret_cast<void*>(of.base)) == success;
    }
    chunk_handle(chunk_handle const&) = delete;
    chunk_handle& operator=(chunk_handle const&) = delete;
    ~chunk_handle() {
        if (is_there_)
            api().mem_release(handle_);
    }
    [[nodiscard]] bool is_there() const noexcept { return is_there_; }
    [[nodiscard]] CUmemGenericAllocationHandle get() const noexcept { return handle_; }

private:
    CUmemGenericAllocationHandle handle_ = 0;
    bool is_there_ = false;
};

} // namespace

virtual_alias::virtual_alias(CUdevice gpu, std::size_t bytes) : gpu_(gpu), size_(bytes) {
    check(api().mem_address_reserve(&address_, size_, 0, 0, 0), what);
    watch_exit();
}

std::unique_ptr<virtual_alias> virtual_alias::of(CUdevice gpu, memory const& which) {
    relaxed_capture const relaxed;
    // VMM memory belongs to no context, but drivers need not serve a thread that has none.
    context_scope const scope = context_scope::any(gpu);
    driver_api const& cu = api();
    std::size_t bytes = 0;
    for (allocation_part const& each : which.chunks)
        bytes += each.capacity;
    if (bytes == 0 || !chunk_handle(which.chunks.front()).is_there())
        return nullptr;
    std::unique_ptr<virtual_alias> result(new virtual_alias(gpu, bytes));
    for (allocation_part const& each : which.chunks) {
        chunk_handle const handle(each);
        if (!handle.is_there())
            return nullptr;
        CUdeviceptr const base = result->address_ + result->mapped_;
        check(cu.mem_map(base, each.capacity, 0, handle.get(), 0), what);
        result->mapped_ += each.capacity;
        result->bases_.push_back(base);
    }
    CUmemAccessDesc const access{{location_type_device, gpu}, access_read_write};
    check(cu.mem_set_access(result->address_, bytes, &access, 1), what);
    return result;
}

virtual_alias::~virtual_alias() {
    if (!address_ || !drivers_are_up(owner_))
        return;
    relaxed_capture const relaxed;
    std::optional<context_scope> scope;
    try {
        scope.emplace(context_scope::any(gpu_));
    } catch (error const&) {
        // The driver may do it without.
    }
    driver_api const& cu = api();
    if (mapped_ > 0)
        cu.mem_unmap(address_, mapped_);
    cu.mem_address_free(address_, size_);
}

} // namespace barmap::cuda
