// SPDX-License-Identifier: MIT
#include "measure/gpu_memory.hpp"

#include "measure/gpu_kernels.hpp"
#include "output/units.hpp"

#include <barmap/error.hpp>

#include <memory>
#include <utility>

namespace barmap::tool {

gpu_memory& gpu_memory::operator=(gpu_memory&& other) noexcept {
    gpu_memory taken(std::move(other));
    swap(taken);
    return *this;
}

void gpu_memory::swap(gpu_memory& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(size_, other.size_);
    std::swap(undo_, other.undo_);
}

gpu_memory::~gpu_memory() {
    while (!undo_.empty()) {
        undo_.back()();
        undo_.pop_back();
    }
}

gpu_memory gpu_memory::device(std::size_t bytes) {
    gpu_memory result;
    cuda::check(cuda::api().mem_alloc(&result.address_, bytes), "allocate GPU memory");
    result.size_ = bytes;
    result.undo([address = result.address_] { cuda::api().mem_free(address); });
    return result;
}

gpu_memory gpu_memory::chunks(CUdevice gpu, std::size_t bytes, unsigned chunks, bool exportable,
                              bool rdma) {
    cuda::driver_api const& cu = cuda::api();
    CUmemAllocationProp properties{};
    properties.type = cuda::allocation_type_pinned;
    properties.requestedHandleTypes =
        exportable ? cuda::handle_type_posix_fd : cuda::handle_type_none;
    properties.location = {cuda::location_type_device, gpu};
    properties.allocFlags.gpuDirectRDMACapable = rdma ? 1 : 0;
    std::size_t granularity = 0;
    cuda::check(
        cu.mem_get_allocation_granularity(&granularity, &properties, cuda::granularity_minimum),
        "read the granularity of VMM memory");
    std::size_t const chunk = round_up((bytes + chunks - 1) / chunks, granularity);
    std::size_t const total = chunk * chunks;

    gpu_memory result;
    cuda::check(cu.mem_address_reserve(&result.address_, total, 0, 0, 0), "reserve GPU addresses");
    CUdeviceptr const base = result.address_;
    result.undo([base, total] { cuda::api().mem_address_free(base, total); });
    for (unsigned i = 0; i < chunks; ++i) {
        CUmemGenericAllocationHandle handle = 0;
        cuda::check(cu.mem_create(&handle, chunk, &properties, 0), "create VMM memory");
        CUresult const mapped = cu.mem_map(base + i * chunk, chunk, 0, handle, 0);
        cu.mem_release(handle); // the mapping keeps the memory
        cuda::check(mapped, "map VMM memory for the GPU");
        result.undo([at = base + i * chunk, chunk] { cuda::api().mem_unmap(at, chunk); });
    }
    CUmemAccessDesc const access{properties.location, cuda::access_read_write};
    cuda::check(cu.mem_set_access(base, total, &access, 1), "make VMM memory accessible");
    result.size_ = bytes;
    return result;
}

gpu_memory gpu_memory::barmap(opened_gpu const& gpu, std::size_t bytes, std::string_view backend) {
    gpu_memory result;
    auto pin = std::make_shared<barmap::pin>(gpu.device().allocate(bytes, backend));
    result.address_ = pin->gpu_address();
    result.size_ = bytes;
    result.undo([pin]() mutable { pin.reset(); });
    return result;
}

gpu_memory gpu_memory::managed(std::size_t bytes) {
    gpu_memory result;
    cuda::check(cuda::api().mem_alloc_managed(&result.address_, bytes, cuda::mem_attach_global),
                "allocate managed memory");
    result.size_ = bytes;
    result.undo([address = result.address_] { cuda::api().mem_free(address); });
    return result;
}

gpu_memory gpu_memory::host(std::size_t bytes) {
    gpu_memory result;
    auto memory = std::make_shared<pinned_host>(bytes);
    result.address_ = memory->gpu_address();
    result.size_ = bytes;
    result.undo([memory]() mutable { memory.reset(); });
    return result;
}

gpu_memory gpu_memory::pool(opened_gpu const& gpu, std::size_t bytes, bool exportable) {
    cuda::driver_api const& cu = cuda::api();
    gpu_memory result;
    if (exportable) {
        CUmemPoolProps properties{};
        properties.allocType = cuda::allocation_type_pinned;
        properties.handleTypes = cuda::handle_type_posix_fd;
        properties.location = {cuda::location_type_device, gpu.handle()};
        CUmemoryPool pool = nullptr;
        cuda::check(cu.mem_pool_create(&pool, &properties), "create a memory pool");
        result.undo([pool] { cuda::api().mem_pool_destroy(pool); });
        cuda::check(cu.mem_alloc_from_pool_async(&result.address_, bytes, pool, nullptr),
                    "allocate from a memory pool");
    } else {
        cuda::check(cu.mem_alloc_async(&result.address_, bytes, nullptr),
                    "allocate from the default memory pool");
    }
    result.undo([address = result.address_] {
        cuda::api().mem_free_async(address, nullptr);
        cuda::api().stream_synchronize(nullptr);
    });
    cuda::check(cu.stream_synchronize(nullptr), "wait for an allocation");
    result.size_ = bytes;
    return result;
}

gpu_memory gpu_memory::named(std::string_view name, opened_gpu const& gpu, std::size_t bytes) {
    if (name == "device")
        return device(bytes);
    if (name == "vmm")
        return chunks(gpu.handle(), bytes, 1, true);
    if (name == "vmm5")
        return chunks(gpu.handle(), bytes, 5, true);
    if (name == "barmap")
        return barmap(gpu, bytes);
    throw error(errc::invalid_argument, "allocate memory of kind " + std::string(name), "",
                "the kinds are device, vmm, vmm5 and barmap");
}

void fill_gpu(CUdeviceptr address, unsigned char value, std::size_t bytes) {
    cuda::check(cuda::api().memset_d8(address, value, bytes), "fill GPU memory");
    cuda::check(cuda::api().ctx_synchronize(), "fill GPU memory");
}

void write_gpu(CUdeviceptr address, std::span<std::byte const> from) {
    cuda::check(cuda::api().memcpy_htod(address, from.data(), from.size()), "write GPU memory");
    // A copy from pageable memory may return before the GPU has the last bytes.
    cuda::check(cuda::api().ctx_synchronize(), "write GPU memory");
}

void read_gpu(std::span<std::byte> to, CUdeviceptr address) {
    cuda::check(cuda::api().memcpy_dtoh(to.data(), address, to.size()), "read GPU memory");
}

} // namespace barmap::tool
