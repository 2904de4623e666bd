// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/context_scope.hpp"
#include "cuda/device_block.hpp"
#include "map/backend.hpp"
#include "nvidia/cuda.hpp"
#include "transfer/engine/engine_reach.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace barmap::backend {

/// A little GPU memory for barmap itself, reached through one backend: for the self-test and the
/// measurement of copy routines, so that neither ever touches the user's memory.
class scratch {
public:
    /// One block of cudaMalloc, which takes 2 MiB for any size.
    static constexpr std::size_t size = std::size_t{2} << 20;

    /// Allocates, pins and maps. @throws error
    scratch(backend& backend, gpu const& gpu);
    scratch(scratch const&) = delete;
    scratch& operator=(scratch const&) = delete;
    ~scratch();

    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {mapped_->data, size}; }
    [[nodiscard]] cache_kind kind() const noexcept { return mapped_->kind; }
    /// 0 in a process without CUDA.
    [[nodiscard]] CUdeviceptr address() const noexcept { return described_.address; }
    void describe(engine_reach& to) const {
        to.describe(described_, pinned_->objects(), engine_reach::owner::barmap);
    }
    /// Whether CUDA allocated it.
    [[nodiscard]] bool is_of_cuda() const noexcept { return block_ != nullptr; }
    [[nodiscard]] CUdevice device() const noexcept { return device_; }
    [[nodiscard]] memory_kind memory() const noexcept {
        return block_ ? memory_kind::device : memory_kind::allocated;
    }
    [[nodiscard]] std::string_view way() const noexcept { return pinned_->way(); }
    /// Whether CUDA still has this memory at its address.
    [[nodiscard]] bool is_still_there() const noexcept {
        return !block_ || block_->is_still_there();
    }

private:
    std::unique_ptr<cuda::device_block> block_; ///< where the backend does not allocate by itself
    std::unique_ptr<pinned> pinned_;
    std::unique_ptr<mapped> mapped_;
    cuda::memory described_;
    CUdevice device_ = 0;
};

} // namespace barmap::backend
