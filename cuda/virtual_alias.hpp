// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/memory.hpp"
#include "system/process.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace barmap::cuda {

/// Addresses of our own for VMM memory, which stays there after its owner has unmapped and released
/// it. Thread rule: none but the destructor after construction. Abandoned in a forked child and at
/// process exit.
class virtual_alias {
public:
    /// Maps all chunks of the memory again, for the GPU that has it.
    /// @return null if CUDA gives no handle for a chunk: it is not VMM memory. It maps the
    ///         memory that is at the addresses by now, so compare allocation_id() afterwards.
    /// @throws error
    [[nodiscard]] static std::unique_ptr<virtual_alias> of(CUdevice gpu, memory const& which);
    virtual_alias(virtual_alias const&) = delete;
    virtual_alias& operator=(virtual_alias const&) = delete;
    /// Unmaps at once, and waits for no kernel. @pre no copy at these addresses is in flight
    ~virtual_alias();

    /// Where each chunk starts now.
    [[nodiscard]] std::vector<CUdeviceptr> const& bases() const noexcept { return bases_; }

private:
    virtual_alias(CUdevice gpu, std::size_t bytes);

    os::process_id owner_ = os::this_process();
    CUdevice gpu_;
    CUdeviceptr address_ = 0;
    std::size_t size_;
    std::size_t mapped_ = 0; ///< bytes from the start
    std::vector<CUdeviceptr> bases_;
};

} // namespace barmap::cuda
