// SPDX-License-Identifier: MIT
#pragma once

#include "base/process.hpp"
#include "driver/cuda/context_scope.hpp"
#include "driver/cuda/types.hpp"

#include <cstdint>

namespace barmap::nixl {

/// Lets one GPU reach the memory of another one of this process, from now on.
/// @throws error errc::wrong_device if it cannot
void enable_peer_access(int gpu, int owner);

/// Memory of another process, opened for one GPU by CUDA IPC for as long as this lives.
class opened_memory {
public:
    /// @throws error
    opened_memory(CUipcMemHandle const& handle, int gpu);
    opened_memory(opened_memory const&) = delete;
    opened_memory& operator=(opened_memory const&) = delete;
    ~opened_memory();

    [[nodiscard]] std::uintptr_t address() const noexcept { return address_; }

private:
    os::process_id owner_;
    cuda::primary_context context_;
    CUdeviceptr address_ = 0;
};

} // namespace barmap::nixl
