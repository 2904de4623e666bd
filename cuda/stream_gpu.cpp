// SPDX-License-Identifier: MIT
#include "cuda/stream_gpu.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/current_gpu.hpp"
#include "cuda/driver_api.hpp"

#include <cstdint>

namespace barmap::cuda {

CUcontext context_of(CUstream stream) noexcept {
    CUcontext its = nullptr;
    return api().stream_get_ctx(stream, &its) == success ? its : nullptr;
}

std::optional<CUdevice> gpu_of(CUstream stream) noexcept {
    constexpr std::uintptr_t last_default = 2;
    try {
        std::optional<context_scope> scope;
        if (reinterpret_cast<std::uintptr_t>(stream) > last_default) {
            CUcontext const owner = context_of(stream);
            if (!owner)
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

std::optional<int> ordinal_of(CUstream stream) noexcept {
    std::optional<CUdevice> const handle = gpu_of(stream);
    return handle ? ordinal_with(*handle) : std::nullopt;
}

} // namespace barmap::cuda
