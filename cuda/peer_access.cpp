// SPDX-License-Identifier: MIT
#include "cuda/peer_access.hpp"

#include "cuda/context_scope.hpp"
#include "cuda/driver_api.hpp"

#include <barmap/error.hpp>

#include <utility>

namespace barmap::cuda {

void enable_peer_access(int gpu, int owner, std::string advice) {
    auto const from = primary_context::retain(device_with(gpu));
    auto const to = primary_context::retain(device_with(owner));
    context_scope const scope(from.get());
    CUresult const result = api().ctx_enable_peer_access(to.get(), 0);
    if (result != success && result != error_peer_already_enabled)
        throw error(errc::wrong_device,
                    "let GPU " + std::to_string(gpu) + " reach memory of GPU " +
                        std::to_string(owner),
                    "", std::move(advice));
}

} // namespace barmap::cuda
