// SPDX-License-Identifier: MIT
#include "driver/cuda/stream_gpu.hpp"

#include "driver/cuda/context_scope.hpp"
#include "driver/cuda/driver_api.hpp"

#include <cstdint>

namespace barmap::cuda {

std::optional<CUdevice> gpu_of(CUstream stream) noexcept {
    constexpr std::uintptr_t last_default = 2;
    try {
        std::optional<context_scope> scope;
        if (reinterpret_cast<std::uintptr_t>(stream) > last_default) {
            CUcontext owner = nullptr;
            if (api().stream_get_ctx(stream, &owner) != success)
                return std::nullopt;
            scope.emplace(owner);
        }
        CUdevice found = 0;
        if (api().ctx_get_device(&found) == success)
            return found;
    } catch (error const&) {
        // The context is gone.
    }
    return std::nullopt;
}

bool is_of_primary_context(CUstream stream, CUdevice gpu) noexcept {
    CUcontext its = nullptr, primary = nullptr;
    if (api().stream_get_ctx(stream, &its) != success ||
        api().primary_ctx_retain(&primary, gpu) != success)
        return false;
    (void)api().primary_ctx_release(gpu);
    return its == primary;
}

} // namespace barmap::cuda
