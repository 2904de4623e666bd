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

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

namespace detail {
struct opened_signal;
struct shared_signal;
} // namespace detail

/// Memory for rings, counters, calls and logs: one block of GPU memory with its mapping, and one
/// block of pinned host memory. Rings and counters allocate parts of the two blocks, so that
/// hundreds of them share one pin.
///
///     barmap::arena const words(gpu, 1 << 20, 1 << 16);
///     barmap::ring_to_gpu<command> commands(words, 1024);
///
/// A cheap handle: copies share one state, which each part also keeps alive. Making an arena
/// allocates memory with CUDA; destroying the last handle and part frees it, which waits for
/// running kernels.
/// Thread rule: threads may call any members at once.
class BARMAP_API arena {
public:
    /// Parts begin at a multiple of this number of bytes, so that no two share a cache line on
    /// either side.
    static constexpr std::size_t alignment = 128;

    /// @param gpu_bytes, host_bytes sizes of the two blocks; 0 for none
    /// @param backend as in device::allocate(); "rm" if you share parts with other processes and
    ///        barmap would choose another one
    /// @throws error as device::allocate() and pin::map(); also if no more host memory may be
    ///         locked (ulimit -l), or no descriptor is left: the host memory takes one
    arena(device const& of, std::size_t gpu_bytes, std::size_t host_bytes,
          std::string_view backend = {});
    arena(arena const&) noexcept;
    arena& operator=(arena const&) noexcept;
    ~arena();

    /// A part of one of the blocks. Move-only. The destructor frees it; no kernel and no copy may
    /// use it any more by then.
    /// Thread rule: the bytes are like any memory; destroying the part is exclusive.
    class BARMAP_API part {
    public:
        part() noexcept; ///< empty
        part(part&&) noexcept;
        part& operator=(part&&) noexcept;
        ~part();

        /// CPU address of the first byte.
        [[nodiscard]] std::byte* data() const noexcept { return data_; }
        [[nodiscard]] std::size_t size() const noexcept { return size_; } ///< bytes, as requested
        /// The address for kernels. 0 in a process that has opened the memory by a descriptor.
        [[nodiscard]] std::uintptr_t gpu_address() const noexcept { return gpu_address_; }
        /// The part as a window, if it is GPU memory; else an empty window.
        [[nodiscard]] barmap::window window() const noexcept;
        /// False for an empty part, and in a forked child, which may only destroy the part.
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

    /// Allocates GPU memory. It holds what its last user left there.
    /// @throws error errc::out_of_range if no part of that size is left, errc::invalid_argument for
    ///         0 bytes, errc::forked_child
    [[nodiscard]] part take_gpu(std::size_t bytes) const;
    /// The same with host memory.
    [[nodiscard]] part take_host(std::size_t bytes) const;

    /// How the CPU caches the GPU memory.
    [[nodiscard]] cache_kind kind() const noexcept;
    /// The GPU that owns the memory. @pre not opened()
    [[nodiscard]] device const& gpu() const noexcept;
    /// Whether another process made the arena, and this one opened a ring or a counter of it by a
    /// descriptor. take_gpu() and take_host() then return the parts of that ring or counter, with
    /// their contents.
    [[nodiscard]] bool opened() const noexcept;

private:
    friend detail::opened_signal;
    friend detail::shared_signal;
    explicit arena(std::shared_ptr<arena_state> state) noexcept;
    std::shared_ptr<arena_state> state_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
