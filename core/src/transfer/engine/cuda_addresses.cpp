// SPDX-License-Identifier: MIT
#include "transfer/engine/cuda_addresses.hpp"

#include "cuda/driver_api.hpp"
#include "cuda/host_registration.hpp"
#include "cuda/virtual_alias.hpp"

#include <utility>

namespace barmap::engine {
namespace {

std::uint64_t address_of(std::span<std::byte> memory) noexcept {
    return reinterpret_cast<std::uintptr_t>(memory.data());
}

struct reachable_parts final : reachable {
    struct identity {
        CUdeviceptr address;
        unsigned long long id; ///< CUDA's, unique to each allocation of the process
    };
    std::vector<identity> chunks;

    [[nodiscard]] bool is_unchanged() const noexcept override {
        for (identity const& each : chunks)
            if (cuda::allocation_id(each.address) != each.id)
                return false;
        return true;
    }
};

struct held_gpu_memory final : reachable {
    explicit held_gpu_memory(std::unique_ptr<cuda::virtual_alias const> addresses)
        : held(std::move(addresses)) {}
    std::unique_ptr<cuda::virtual_alias const> held;
};

struct host_memory final : reachable {
    host_memory(CUdevice device, std::span<std::byte> pages)
        : registration(device, pages, without_registration) {
        runs.push_back({0, pages.size(), address_of(pages)});
    }
    cuda::host_registration registration;
};

} // namespace

std::unique_ptr<reachable> reach_by_cuda(cuda::memory const& memory) {
    auto result = std::make_unique<reachable_parts>();
    std::size_t at = 0;
    for (cuda::allocation_part const& chunk : memory.chunks) {
        unsigned long long id = 0;
        cuda::check(cuda::api().pointer_get_attribute(&id, cuda::pointer_buffer_id, chunk.base),
                    "identify GPU memory");
        result->chunks.push_back({chunk.base, id});
        // CUDA copies only the allocation itself, not the bytes before and after it.
        result->runs.push_back({at + chunk.before, chunk.length, chunk.base + chunk.offset});
        at += chunk.extent();
    }
    return result;
}

std::unique_ptr<reachable> hold_by_cuda(CUdevice gpu, cuda::memory const& memory) {
    if (memory.kind != memory_kind::virtual_exportable &&
        memory.kind != memory_kind::virtual_opaque)
        return nullptr;
    std::unique_ptr<cuda::virtual_alias const> alias = cuda::virtual_alias::of(gpu, memory);
    if (!alias)
        return nullptr;
    auto result = std::make_unique<held_gpu_memory>(std::move(alias));
    std::size_t at = 0;
    for (std::size_t i = 0; i < memory.chunks.size(); ++i) {
        cuda::allocation_part const& chunk = memory.chunks[i];
        CUdeviceptr const base = result->held->bases()[i];
        result->runs.push_back({at + chunk.before, chunk.length, base + chunk.offset});
        at += chunk.extent();
    }
    return result;
}

std::unique_ptr<reachable> reach_by_cuda(CUdevice device, std::span<std::byte> pages) {
    return std::make_unique<host_memory>(device, pages);
}

std::unique_ptr<reachable> reach_pinned_by_cuda(std::span<std::byte> memory) {
    auto result = std::make_unique<reachable>();
    result->runs.push_back({0, memory.size(), address_of(memory)});
    return result;
}

} // namespace barmap::engine
