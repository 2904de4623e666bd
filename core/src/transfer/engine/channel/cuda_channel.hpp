// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/context_scope.hpp"
#include "cuda/device_block.hpp"
#include "cuda/gpu.hpp"
#include "driver/memory_names.hpp"
#include "driver/rm/client.hpp"
#include "driver/rm/cuda_memory.hpp"
#include "driver/rm/uvm.hpp"
#include "system/region.hpp"
#include "transfer/engine/channel/engine_choice.hpp"
#include "transfer/engine/channel/generation.hpp"
#include "transfer/engine/channel/gpu_channel.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace barmap::engine {

/// The state that all channels in CUDA's address space of one GPU share.
struct cuda_session {
    /// @param addresses for memory that the channels themselves read, not for copies
    explicit cuda_session(cuda::gpu const& which,
                          std::optional<cuda::block_addresses> addresses = {});

    cuda::gpu const gpu;
    std::shared_ptr<rm::client const> client;
    rm::driver_series series;
    generation const& kind;
    cuda::block_addresses addresses;
    usermode_page usermode;
    std::vector<copy_engine_caps> engines;
    std::vector<std::uint32_t> shared_engines; ///< those that CUDA also uses
    cuda::primary_context context;
    /// CUDA's address space as an object of the client; set when the first channel finds it.
    std::optional<rm::memory_object> space;
    CUdeviceptr first_block = 0; ///< of that channel, which lives as long as the session
    std::optional<cuda::memory_names> names; ///< of the block
};

/// A channel in CUDA's own address space, where every CUDA pointer is an address, with the block of
/// GPU memory that holds its GPFIFO, its USERD and its words.
/// Thread rule: the members marked "any thread" may run concurrently with any other.
class cuda_channel {
public:
    /// Finds CUDA's address space, if no earlier channel has found it. @throws error
    /// @pre the session's context is current
    cuda_channel(cuda_session& session, std::uint32_t engine_type);
    cuda_channel(cuda_channel const&) = delete;
    cuda_channel& operator=(cuda_channel const&) = delete;
    ~cuda_channel() { stop(); }

    /// The block as the CPU sees it, write-combining; zeros up to command_ring::words_at at first.
    [[nodiscard]] std::byte* block() const noexcept { return view_.data(); }
    /// The block as the GPU sees it.
    [[nodiscard]] std::uint64_t block_on_gpu() const noexcept { return block_.address(); }
    [[nodiscard]] std::uint32_t token() const noexcept { return channel_->token(); }

    /// @pre not after stop()
    [[nodiscard]] rm::uvm_registration const& in_uvm() const noexcept { return *known_to_uvm_; }

    /// The number of the error (Xid) with which the driver stopped the channel. Any thread.
    [[nodiscard]] std::optional<std::uint32_t> error_number() const noexcept;

    /// Stops the channel for good. May take as long as the driver takes.
    /// @return whether none of its copies is in flight any more
    bool stop() noexcept;

private:
    void find_space();
    void open(rm::abi::handle space);

    // In construction order; the channel is destroyed before what it uses.
    cuda_session& session_;
    std::uint32_t engine_type_;
    cuda::device_block block_;
    rm::cuda_object object_; ///< holds the block until the channel is freed
    rm::cpu_view view_;
    os::region notifier_;
    rm::memory_object notifier_page_;
    std::optional<gpu_channel> channel_;
    std::optional<rm::uvm_registration> known_to_uvm_;
};

} // namespace barmap::engine
