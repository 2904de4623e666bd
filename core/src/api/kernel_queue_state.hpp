// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/context_scope.hpp"
#include "cuda/own_kernel.hpp"
#include "gpu/device_state.hpp"
#include "transfer/engine/channel/kernel_channel.hpp"

#include <barmap/gpu/list_in_memory.cuh>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace barmap {

/// A queue that kernels feed.
/// Thread rule: threads may call every member concurrently.
class kernel_queue_state final : public checkpoint::survivor {
public:
    kernel_queue_state(std::shared_ptr<device_state> of, engine::kernel_channel::form how)
        : device_(std::move(of)), form_(how) {
        restart();
    }
    kernel_queue_state(kernel_queue_state const&) = delete;
    kernel_queue_state& operator=(kernel_queue_state const&) = delete;
    ~kernel_queue_state() { survives_.leave(); }

    /// Makes a new channel, after the GPU's kernels have ended. Graphs have the old one.
    void restart();

    /// The argument for kernels, or for threads that act as kernels. @throws error if the channel
    /// has stopped
    [[nodiscard]] gpu::kernel_queue get(bool for_thread);

    [[nodiscard]] bool is_rung_by_cpu();

    /// @pre if the stream is being captured, the graph keeps this
    void enqueue(gpu::copy_piece const* pieces, gpu::word const* count, std::size_t most,
                 std::uint64_t at_most_ns, void* stream);

    /// Why the channel has stopped; tells kernels that wait. Nothing while it runs.
    [[nodiscard]] std::optional<std::string> why_it_stopped();
    /// A failure since the last call.
    struct trouble {
        std::optional<std::string> why_it_stopped; ///< or else
        std::optional<gpu::status> refusal;        ///< of a list that was not copied whole
    };
    [[nodiscard]] trouble take_trouble();
    /// The same with advice, if there was one.
    [[nodiscard]] std::optional<std::string> failure();

    /// Waits for the GPU's kernels, of which graphs do not keep those that have the handle.
    void wait_for_kernels() noexcept;

    [[nodiscard]] bool is_busy() override;
    void release() override;
    void restore() override {} // the next get() makes it

    [[nodiscard]] device_state& device() const noexcept { return *device_; }
    [[nodiscard]] CUcontext context() const noexcept { return context_.get(); }

private:
    void make() { channel_ = std::make_unique<engine::kernel_channel>(device_->gpu, form_); }
    void expect_channel() {
        if (!channel_) // since a checkpoint, or a restart that failed
            make();
    }
    [[nodiscard]] cuda::own_kernel const& kernel();

    std::shared_ptr<device_state> const device_;
    engine::kernel_channel::form const form_;
    cuda::primary_context const context_ = cuda::primary_context::retain(device_->gpu.handle);
    std::mutex lock_;
    std::unique_ptr<engine::kernel_channel> channel_; ///< under the lock
    std::optional<cuda::own_kernel> kernel_;          ///< set by the first enqueue()
    checkpoint::membership survives_{*this};
};

} // namespace barmap
