// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/device.hpp>
#include <barmap/export.hpp>
#include <barmap/window.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace barmap {
struct arena_state; ///< inside the library
}

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

namespace detail {
struct opened_signal;
struct shared_signal;
} // namespace detail

/// Memory for rings, counters and what else a CPU and a GPU tell each other by: one block of GPU memory
/// with its mapping, and one of pinned host memory, of which parts are taken and given back. So
/// hundreds of counters share one pin.
///
///     barmap::arena const words(gpu, 1 << 20, 1 << 16);
///     barmap::ring_to_gpu<command> commands(words, 1024);
///
/// A cheap handle: copies share one state, which each part keeps as well. Making one allocates
/// memory with CUDA, and its end frees it, which waits for running kernels.
/// Thread rule: every member may be called at once.
class BARMAP_API arena {
public:
    /// Parts begin at a multiple of this, so that no two share a line that either side fetches.
    static constexpr std::size_t alignment = 128;

    /// @param gpu_bytes, host_bytes how much of each; 0 for none
    /// @param backend as in device::allocate(): "rm", to share with other processes where another
    ///        one would be taken
    /// @throws error as device::allocate() and pin::map(); for want of host memory that may be locked
    ///         (ulimit -l), or of descriptors, of which it takes one for the host memory
    arena(device const& of, std::size_t gpu_bytes, std::size_t host_bytes,
          std::string_view backend = {});
    arena(arena const&) noexcept;
    arena& operator=(arena const&) noexcept;
    ~arena();

    /// A part of one of the blocks, which is given back at its end. Move-only. By then no kernel
    /// and no copy may use it any more.
    /// Thread rule: the bytes are as any memory; destroying it is exclusive.
    class BARMAP_API part {
    public:
        part() noexcept; ///< empty
        part(part&&) noexcept;
        part& operator=(part&&) noexcept;
        ~part();

        /// CPU address of the first byte.
        [[nodiscard]] std::byte* data() const noexcept { return data_; }
        [[nodiscard]] std::size_t size() const noexcept { return size_; } ///< bytes, as asked for
        /// The address by which kernels reach it.
        /// 0 in a process that has opened the memory by a descriptor.
        [[nodiscard]] std::uintptr_t gpu_address() const noexcept { return gpu_address_; }
        /// Of GPU memory. Of host memory: a window of no mapping.
        [[nodiscard]] barmap::window window() const noexcept;
        /// False in a forked child, which may only destroy it, and of an empty part.
        [[nodiscard]] bool is_of_this_process() const noexcept;

    private:
        friend class arena;
        friend detail::shared_signal;
        std::shared_ptr<arena_state> owner_;
        std::byte* data_ = nullptr;
        std::size_t size_ = 0;
        std::uintptr_t gpu_address_ = 0;
        copy_plan const* plan_ = nullptr; ///< null: host memory
    };

    /// Takes GPU memory. What it holds is what its last user left.
    /// @throws error errc::out_of_range if no part of that size is left, errc::invalid_argument for
    ///         0 bytes, errc::forked_child
    [[nodiscard]] part take_gpu(std::size_t bytes) const;
    /// The same of host memory.
    [[nodiscard]] part take_host(std::size_t bytes) const;

    /// How the CPU caches the GPU memory.
    [[nodiscard]] cache_kind kind() const noexcept;
    /// The GPU whose memory it is. @pre not opened()
    [[nodiscard]] device const& gpu() const noexcept;
    /// Whether another process has made it, and a ring or a counter of it was opened by a
    /// descriptor. It then gives out the parts which that has, with what they hold.
    [[nodiscard]] bool opened() const noexcept;

private:
    friend detail::opened_signal;
    friend detail::shared_signal;
    explicit arena(std::shared_ptr<arena_state> state) noexcept;
    std::shared_ptr<arena_state> state_;
};

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
