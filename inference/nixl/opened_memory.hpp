// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/context_scope.hpp"
#include "nvidia/cuda.hpp"
#include "system/process.hpp"

#include <cstddef>
#include <cstdint>

namespace barmap::nixl {

/// Memory of another process, opened for one GPU by CUDA IPC for as long as this lives.
class opened_memory {
public:
    /// @throws error
    opened_memory(CUipcMemHandle const& handle, int gpu);
    opened_memory(opened_memory const&) = delete;
    opened_memory& operator=(opened_memory const&) = delete;
    ~opened_memory();

    [[nodiscard]] std::uintptr_t address() const noexcept { return address_; }

    /// Whether CUDA says that these bytes are in it, which the other process only claims.
    [[nodiscard]] bool holds(std::uintptr_t offset, std::size_t bytes) const noexcept {
        return offset <= bytes_ && bytes <= bytes_ - offset;
    }

private:
    os::process_id owner_;
    cuda::primary_context context_;
    CUdeviceptr address_ = 0;
    std::size_t bytes_ = 0; ///< from the address on; 0 where CUDA does not tell
};

} // namespace barmap::nixl
