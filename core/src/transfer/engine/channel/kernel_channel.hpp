// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/gpu.hpp"
#include "driver/rm/uvm.hpp"
#include "system/process.hpp"
#include "transfer/engine/channel/cuda_channel.hpp"

#include <barmap/gpu/kernel_queue.cuh>

#include <cstdint>
#include <optional>
#include <string>

namespace barmap::engine {

/// A channel that kernels feed: they write its commands and ring its doorbell, which is mapped into
/// CUDA's address space. The CPU makes the first submission, and none after that.
/// Thread rule: const members may be called at once.
class kernel_channel {
public:
    /// @throws error errc::backend_absent where kernels cannot reach the doorbell
    explicit kernel_channel(cuda::gpu const& which);
    kernel_channel(kernel_channel const&) = delete;
    kernel_channel& operator=(kernel_channel const&) = delete;
    /// Waits for the GPU's kernels, since they might ring the doorbell. None may be enqueued later
    /// that uses the queue.
    ~kernel_channel();

    /// For kernels.
    [[nodiscard]] barmap::gpu::kernel_queue const& queue() const noexcept { return queue_; }
    /// For a thread that acts as a kernel: with addresses of the CPU.
    [[nodiscard]] barmap::gpu::kernel_queue queue_for_thread() const noexcept;

    /// The lower half of the last ticket that is done.
    [[nodiscard]] std::uint32_t done() const noexcept;

    /// Whether a warp has the queue, or a submission of one that has given it back is not done.
    [[nodiscard]] bool is_busy() const noexcept;

    /// Why the channel has stopped; tells kernels that wait. Nothing while it runs.
    [[nodiscard]] std::optional<std::string> failure() const;

    /// The status of a list that gpu::submit_and_wait() has not copied whole since the last call.
    [[nodiscard]] std::optional<barmap::gpu::status> take_refusal() const noexcept;

private:
    void wait_for_kernels() const noexcept;
    void expect_doorbell() const;
    void open();

    os::process_id owner_ = os::this_process();
    cuda_session session_;
    std::optional<cuda_channel> channel_;
    std::optional<rm::uvm_mapping> doorbell_;
    barmap::gpu::kernel_queue queue_{};
};

} // namespace barmap::engine
