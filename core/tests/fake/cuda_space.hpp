// SPDX-License-Identifier: MIT
#pragma once

#include "fake/gpu_memory.hpp"

namespace barmap::fake::gpu {

/// CUDA's own address space of a GPU: every pointer of CUDA's means there what it means to CUDA,
/// for as long as it does, and nothing else is there.
class cuda_space final : public address_space {
public:
    explicit cuda_space(int ordinal);

    /// The memories are of all that CUDA has: a place's offset in them is its address.
    [[nodiscard]] place find(std::uint64_t address, std::uint64_t bytes) const override;
    [[nodiscard]] bool is_foreign() const noexcept override { return true; }
    [[nodiscard]] int ordinal_of_cuda() const noexcept override { return ordinal_; }

private:
    int ordinal_;
    std::shared_ptr<memory> device_, peer_, host_;
};

/// One of CUDA's that has nothing of CUDA's in it.
class foreign_space final : public address_space {
public:
    [[nodiscard]] bool is_foreign() const noexcept override { return true; }
};

} // namespace barmap::fake::gpu
