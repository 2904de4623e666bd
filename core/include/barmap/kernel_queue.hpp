// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/device.hpp>
#include <barmap/gpu/kernel_queue.cuh>
#include <barmap/gpu/shared_queue.cuh>
#include <barmap/handle.hpp>
#include <barmap/kernel_queue.h>
#include <barmap/waits.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// How a kernel_queue is made. See enum barmap_kernel_queue_flags.
struct kernel_queue_options {
    bool is_shared = false;      ///< for gpu::shared_submitter: warps submit at the same time
    bool or_rung_by_cpu = false; ///< a thread rings the doorbell where kernels cannot
};

/// A queue of copies that kernels submit: a warp of a running kernel tells a copy engine of its GPU
/// what to copy, and continues with other work. Which pieces these are may be decided on the GPU.
///
///     barmap::kernel_queue queue(gpu);
///     fetch<<<1, 32, 0, stream>>>(queue.handle(), pieces, count);
///
/// The kernel's side is gpu::warp_submitter in <barmap/gpu/kernel_queue.cuh>, or for warps that
/// submit at the same time gpu::shared_submitter in <barmap/gpu/shared_queue.cuh>. The pieces'
/// sides are memory that CUDA has mapped for the GPU: its own, another GPU's with peer access,
/// pinned host memory. For lists, and single pieces from about 16 KiB on: smaller ones a warp
/// copies faster itself.
///
/// Move-only; keeps its device alive. Kernels that use the queue must have ended before it is
/// restarted, moved from or destroyed. A piece whose address is not mapped stops the channel (Xid
/// 31), and not CUDA: check() says so, and restart() makes a new one. In a forked child every
/// member throws, except the destructor.
/// Thread rule: threads may call handle(), enqueue() and check() concurrently; all else is
/// exclusive.
class kernel_queue {
public:
    /// Makes the channel, in about 15 ms. Contract and errors: barmap_kernel_queue_create().
    explicit kernel_queue(device const& on, kernel_queue_options const& how = {})
        : handle_(detail::made<barmap_kernel_queue>([&](auto out) {
              barmap_kernel_queue_options const options{
                  sizeof options,
                  (how.is_shared ? std::uint64_t{BARMAP_KERNEL_QUEUE_SHARED} : 0) |
                      (how.or_rung_by_cpu ? std::uint64_t{BARMAP_KERNEL_QUEUE_OR_RUNG_BY_CPU} : 0)};
              return barmap_kernel_queue_create(on.c_handle(), &options, out);
          })) {}

    /// Contract and errors: barmap_kernel_queue_is_rung_by_cpu().
    [[nodiscard]] bool is_rung_by_cpu() const {
        int is = 0;
        detail::check(barmap_kernel_queue_is_rung_by_cpu(handle_.get(), &is));
        return is != 0;
    }

    /// The kernel's argument. Contract and errors: barmap_kernel_queue_get().
    [[nodiscard]] gpu::kernel_queue handle() const { return of(barmap_kernel_queue_get); }
    /// For a thread that acts as a kernel.
    /// Contract and errors: barmap_kernel_queue_get_for_thread().
    [[nodiscard]] gpu::kernel_queue handle_for_thread() const {
        return of(barmap_kernel_queue_get_for_thread);
    }

    /// Enqueues a kernel that submits a list which lies in memory, and waits for the copies; also
    /// in a stream that is being captured.
    ///
    ///     queue.enqueue(pieces, count, 4096, std::chrono::seconds(1), stream);
    /// Contract and errors: barmap_kernel_queue_enqueue().
    void enqueue(copy_piece const* pieces, std::uint64_t const* count, std::size_t most,
                 std::chrono::nanoseconds at_most, void* stream) const {
        detail::check(barmap_kernel_queue_enqueue(
            handle_.get(), reinterpret_cast<std::uintptr_t>(pieces),
            reinterpret_cast<std::uintptr_t>(count), most, detail::ns_of_wait(at_most), stream));
    }

    /// Throws if the channel has stopped, or an enqueued list was not copied whole.
    /// Contract and errors: barmap_kernel_queue_check().
    void check() const { detail::check(barmap_kernel_queue_check(handle_.get())); }

    /// Makes a new channel. Contract and errors: barmap_kernel_queue_restart().
    void restart() { detail::check(barmap_kernel_queue_restart(handle_.get())); }

    /// Takes over a handle of the C interface. @pre it is not NULL
    explicit kernel_queue(barmap_kernel_queue* of) noexcept : handle_(of) {}
    /// For calls of the C interface; the object keeps it.
    [[nodiscard]] barmap_kernel_queue* c_handle() const noexcept { return handle_.get(); }

private:
    static_assert(sizeof(gpu::kernel_queue) == sizeof(barmap_kernel_queue_handle));

    [[nodiscard]] gpu::kernel_queue of(int (*get)(barmap_kernel_queue*,
                                                  barmap_kernel_queue_handle*)) const {
        barmap_kernel_queue_handle words{};
        detail::check(get(handle_.get(), &words));
        gpu::kernel_queue result;
        std::memcpy(&result, &words, sizeof result);
        return result;
    }

    detail::owned<barmap_kernel_queue, barmap_kernel_queue_destroy> handle_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
