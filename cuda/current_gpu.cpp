// SPDX-License-Identifier: MIT
#include "cuda/current_gpu.hpp"

#include "cuda/driver_api.hpp"

#include <string>

namespace barmap::cuda {

std::optional<int> ordinal_with(CUdevice handle) noexcept {
    driver_api const& cu = api();
    CUdevice found = -1;
    // So far the two are the same on every driver, which saves a search.
    if (handle > 0 && cu.device_get(&found, handle) == success && found == handle)
        return handle;
    for (int ordinal = 0; cu.device_get(&found, ordinal) == success; ++ordinal)
        if (found == handle)
            return ordinal;
    return std::nullopt;
}

std::optional<int> current_ordinal() {
    std::string why;
    driver_api const* const cu = try_api(why);
    CUdevice current = -1;
    if (!cu || cu->ctx_get_device(&current) != success)
        return std::nullopt;
    return ordinal_with(current);
}

} // namespace barmap::cuda
