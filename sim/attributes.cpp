// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <cstring>

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

constexpr int pointer_p2p_tokens = 5;
constexpr int pointer_access_flags = 16;

/// CUDA_POINTER_ATTRIBUTE_P2P_TOKENS
struct p2p_tokens {
    unsigned long long p2p_token;
    unsigned va_space_token;
};

template <class T>
CUresult tell(void* where, T value) {
    std::memcpy(where, &value, sizeof value);
    return success;
}

bool host_visible(allocation const& of) {
    return !of.on_device();
}

CUresult attribute(void* where, int which, CUdeviceptr address) {
    require(where != nullptr);
    allocation const* const found = the_world().addresses.find(address);
    require(found != nullptr);
    // Of virtual memory these two tell the reservation (driver 580.159.04).
    bool const is_chunk = found->kind == kind::chunk;
    bool const host = found->kind == kind::host || found->kind == kind::registered;
    switch (which) {
    case pointer_context:
        return tell(where, found->context);
    case pointer_memory_type:
        return tell(where, host ? memory_type_host : memory_type_device);
    case pointer_device_pointer:
        require(found->accessible && is_mapped_here(*found));
        return tell(where, address);
    case pointer_host_pointer:
        require(host_visible(*found));
        return tell(where, address);
    case pointer_p2p_tokens: {
        require(found->kind == kind::device);
        std::uint32_t const gpu = the_world().get_device(found->ordinal).gpu_id();
        p2p_tokens const tokens{std::uint64_t(the_world().client) << 32 | gpu, gpu};
        std::memcpy(where, &tokens, sizeof tokens);
        return success;
    }
    case pointer_sync_memops:
        return tell(where, int(found->sync_memops || found->kind == kind::managed));
    case pointer_buffer_id:
        return tell(where, found->id);
    case pointer_is_managed:
        return tell(where, int(found->kind == kind::managed));
    case pointer_device_ordinal:
        return tell(where, found->ordinal);
    case pointer_is_legacy_cuda_ipc_capable:
        return tell(where, int(found->kind == kind::device));
    case pointer_range_start_addr:
        return tell(where, is_chunk ? found->addresses->base() : found->base);
    case pointer_range_size:
        return tell(where, std::size_t(is_chunk ? found->addresses->size() : found->size));
    case pointer_mapped:
        return tell(where, 1);
    case pointer_allowed_handle_types:
        return tell(where, found->handle_types);
    case pointer_is_gpu_direct_rdma_capable:
        return tell(where, int(found->rdma_capable));
    case pointer_access_flags:
        return tell(where, found->accessible && is_mapped_here(*found) ? access_read_write : 0);
    case pointer_mempool_handle:
        return tell(where, found->pool);
    default:
        return error_invalid_value;
    }
}

std::size_t size_of(int which) {
    switch (which) {
    case pointer_memory_type:
    case pointer_sync_memops:
    case pointer_is_managed:
    case pointer_device_ordinal:
    case pointer_is_legacy_cuda_ipc_capable:
    case pointer_mapped:
    case pointer_allowed_handle_types:
    case pointer_is_gpu_direct_rdma_capable:
    case pointer_access_flags:
        return sizeof(int);
    case pointer_p2p_tokens:
        return sizeof(p2p_tokens);
    default:
        return sizeof(std::uint64_t);
    }
}

} // namespace

BARMAP_SIM_ENTRY cuPointerGetAttribute(void* where, int which, CUdeviceptr address) {
    return call("cuPointerGetAttribute",
                [&](world_lock&) { return attribute(where, which, address); });
}

// For memory that the driver does not know this succeeds, with zeros: so it is documented.
BARMAP_SIM_ENTRY cuPointerGetAttributes(unsigned count, int* which, void** where,
                                        CUdeviceptr address) {
    return call("cuPointerGetAttributes", [&](world_lock&) {
        require(which && where);
        for (unsigned k = 0; k < count; ++k) {
            require(where[k] != nullptr);
            bool const range =
                which[k] == pointer_range_start_addr || which[k] == pointer_range_size;
            if (!range) // left as they are, by driver 580.159.04
                std::memset(where[k], 0, size_of(which[k]));
            if (which[k] == pointer_device_ordinal)
                tell(where[k], -2); // what drivers say for "none"
            try {
                (void)attribute(where[k], which[k], address);
            } catch (refusal const&) {
            }
        }
    });
}

BARMAP_SIM_ENTRY cuPointerSetAttribute(void const* value, int which, CUdeviceptr address) {
    return call("cuPointerSetAttribute", [&](world_lock&) {
        allocation* const found = the_world().addresses.find(address);
        require(value && which == pointer_sync_memops && found && !host_visible(*found));
        int wanted = 0;
        std::memcpy(&wanted, value, sizeof wanted);
        found->sync_memops = wanted != 0;
    });
}
