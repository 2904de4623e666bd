// SPDX-License-Identifier: MIT
#pragma once

#include "fake/gpu_memory.hpp"

namespace barmap::fake::gpu {

/// The objects of RM that UVM has mapped in CUDA's address spaces, by address.
struct mapped_object {
    int ordinal = -1; ///< of the GPU that has the mapping
    std::shared_ptr<memory> of;
};
using mapped_objects = std::map<std::uint64_t, mapped_object>;

/// CUDA's own address space of a GPU: every pointer of CUDA's means there what it means to CUDA,
/// for as long as it does, and nothing else is there but the objects that UVM has mapped.
class cuda_space final : public address_space {
public:
    cuda_space(int ordinal, std::shared_ptr<mapped_objects const> objects);

    /// The memories are of all that CUDA has: a place's offset in them is its address.
    [[nodiscard]] place find(std::uint64_t address, std::uint64_t bytes) const override;
    [[nodiscard]] bool is_foreign() const noexcept override { return true; }
    [[nodiscard]] int ordinal_of_cuda() const noexcept override { return ordinal_; }

private:
    int ordinal_;
    std::shared_ptr<mapped_objects const> objects_;
    std::shared_ptr<memory> device_, peer_, host_;
};

/// One of CUDA's that has nothing of CUDA's in it.
class foreign_space final : public address_space {
public:
    [[nodiscard]] bool is_foreign() const noexcept override { return true; }
};

} // namespace barmap::fake::gpu
