// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/gpu.hpp"
#include "cuda/host_registration.hpp"
#include "driver/rm/uvm.hpp"
#include "system/process.hpp"
#include "system/region.hpp"
#include "system/thread.hpp"
#include "transfer/engine/channel/cuda_channel.hpp"

#include <barmap/gpu/kernel_queue.cuh>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace barmap::engine {

/// A channel that kernels feed: they write its commands and ring its doorbell, which is mapped into
/// CUDA's address space. Where it cannot be, a thread of the CPU rings it, when a word of pinned
/// host memory tells it to. The CPU makes the first submission, and none after that; a copy engine
/// rings for it at the address that kernels use, which shows that the doorbell works there.
/// Thread rule: const members may be called at once.
class kernel_channel {
public:
    struct form {
        bool is_shared = false;      ///< warps submit at the same time
        bool or_rung_by_cpu = false; ///< where kernels cannot ring
    };

    /// With BARMAP_DOORBELL=cpu, the CPU rings.
    /// @throws error errc::backend_absent where kernels cannot reach the doorbell, backend_broken
    ///         if the channel does not start
    kernel_channel(cuda::gpu const& which, form how);
    kernel_channel(kernel_channel const&) = delete;
    kernel_channel& operator=(kernel_channel const&) = delete;
    /// No kernel may use the queue any more: one that rings the doorbell later loses the context.
    ~kernel_channel();

    /// Waits for the GPU's kernels, which might use the queue.
    void wait_for_kernels() const noexcept;

    /// For kernels.
    [[nodiscard]] barmap::gpu::kernel_queue const& queue() const noexcept { return queue_; }
    /// For a thread that acts as a kernel: with addresses of the CPU.
    [[nodiscard]] barmap::gpu::kernel_queue queue_for_thread() const noexcept;

    [[nodiscard]] bool is_rung_by_cpu() const noexcept { return bell_.has_value(); }

    /// The lower half of the last ticket that is done.
    [[nodiscard]] std::uint32_t done() const noexcept;

    /// Whether a warp has the queue, or a submission of one that has released it is not done.
    [[nodiscard]] bool is_busy() const noexcept;

    /// Why the channel has stopped; tells kernels that wait, which the attendant also does within
    /// 10 ms. Nothing while it runs.
    [[nodiscard]] std::optional<std::string> failure() const;

    /// The status of a list that gpu::submit_and_wait() has not copied whole since the last call.
    [[nodiscard]] std::optional<barmap::gpu::status> take_refusal() const noexcept;

private:
    /// A word of pinned host memory, which kernels set to the token as they would the doorbell.
    struct cpu_bell {
        explicit cpu_bell(CUdevice of);
        [[nodiscard]] std::uint32_t* word() const noexcept {
            return reinterpret_cast<std::uint32_t*>(page.data());
        }
        os::region page;
        cuda::host_registration registration;
    };

    void make(form how);
    void map_doorbell();
    /// As a kernel would, but by a copy engine: with a wrong address, only its channel stops.
    void ring_from_gpu();
    void ring() const noexcept;
    /// Waits for the first submission. @param rings null if the CPU has rung
    void expect_start(cuda_channel const* rings) const;
    /// With the block and the doorbell at these addresses.
    [[nodiscard]] barmap::gpu::kernel_queue queue_at(std::uintptr_t block, std::uintptr_t doorbell,
                                                     bool is_shared) const;
    [[nodiscard]] std::uint32_t* semaphore() const noexcept; ///< as the CPU sees it
    void start_attendant();
    void close() noexcept;
    void attend() noexcept;
    [[nodiscard]] bool ring_if_asked() const noexcept;
    /// Tells kernels that the channel has stopped, if so. @return the error's number
    [[nodiscard]] std::optional<std::uint32_t> tell_failure() const;

    os::process_id owner_ = os::this_process();
    cuda_session session_;
    std::optional<cuda_channel> channel_;
    std::optional<rm::uvm_mapping> doorbell_; ///< either this
    std::optional<cpu_bell> bell_;            ///< or this
    barmap::gpu::kernel_queue queue_{};

    /// A thread that tells kernels of a failure, and rings the doorbell for bell_.
    struct attendant {
        os::thread thread;
        std::mutex lock; ///< guards the next one
        bool is_closing = false;
        std::condition_variable wake;
    };
    std::unique_ptr<attendant> attendant_;
};

} // namespace barmap::engine
