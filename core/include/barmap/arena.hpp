// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/arena.h>
#include <barmap/device.hpp>
#include <barmap/handle.hpp>
#include <barmap/window.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

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
class arena {
public:
    /// Parts begin at a multiple of this number of bytes, so that no two share a cache line on
    /// either side.
    static constexpr std::size_t alignment = 128;

    /// Allocates both blocks; 0 bytes for none. Contract and errors: barmap_arena_create().
    arena(device const& of, std::size_t gpu_bytes, std::size_t host_bytes,
          std::string_view backend = {})
        : arena(detail::made<barmap_arena>([&](auto out) {
              return barmap_arena_create(of.c_handle(), gpu_bytes, host_bytes,
                                         std::string(backend).c_str(), out);
          })) {}
    /// Takes over a handle of the C interface, or one use of it. @pre it is not NULL
    explicit arena(barmap_arena* of) noexcept : handle_(of) {}

    /// A part of one of the blocks. Move-only. The destructor frees it; no kernel and no copy may
    /// use it any more by then.
    /// Thread rule: the bytes are like any memory; destroying the part is exclusive.
    class part {
    public:
        part() noexcept = default; ///< empty
        part(part&& other) noexcept
            : handle_(std::move(other.handle_)), at_(std::exchange(other.at_, {})) {}
        part& operator=(part&& other) noexcept {
            handle_ = std::move(other.handle_);
            at_ = std::exchange(other.at_, {});
            return *this;
        }
        ~part() = default;
        /// Takes over a handle of the C interface. @pre it is not NULL
        explicit part(barmap_arena_part* of) noexcept : handle_(of) {
            barmap_arena_part_place(of, &at_);
        }
        /// For calls of the C interface; null if it is empty.
        [[nodiscard]] barmap_arena_part* c_handle() const noexcept { return handle_.get(); }

        /// CPU address of the first byte.
        [[nodiscard]] std::byte* data() const noexcept {
            return static_cast<std::byte*>(at_.data);
        }
        [[nodiscard]] std::size_t size() const noexcept { return at_.size; } ///< bytes, as requested
        /// The address for kernels. 0 in a process that has opened the memory by a descriptor.
        [[nodiscard]] std::uintptr_t gpu_address() const noexcept { return at_.gpu_address; }
        /// The part as a window, if it is GPU memory; else an empty window.
        [[nodiscard]] barmap::window window() const noexcept {
            return at_.plan ? detail::window_of({at_.data, at_.size, at_.plan}) : barmap::window{};
        }
        /// False for an empty part, and in a forked child, which may only destroy the part.
        /// Contract and errors: barmap_arena_part_is_own().
        [[nodiscard]] bool is_of_this_process() const noexcept {
            return handle_ && barmap_arena_part_is_own(handle_.get());
        }

    private:
        detail::owned<barmap_arena_part, barmap_arena_part_destroy> handle_;
        barmap_part_place at_{};
    };

    /// Allocates GPU memory. Contract and errors: barmap_arena_take().
    [[nodiscard]] part take_gpu(std::size_t bytes) const { return take(BARMAP_OF_GPU, bytes); }
    /// The same with host memory. Contract and errors: barmap_arena_take().
    [[nodiscard]] part take_host(std::size_t bytes) const { return take(BARMAP_OF_HOST, bytes); }

    /// How the CPU caches the GPU memory. Contract and errors: barmap_arena_kind().
    [[nodiscard]] cache_kind kind() const noexcept {
        return static_cast<cache_kind>(barmap_arena_kind(handle_.get()));
    }
    /// The GPU that owns the memory; only if the arena is not opened().
    /// Contract and errors: barmap_arena_device().
    [[nodiscard]] device gpu() const noexcept {
        return device(barmap_device_retain(barmap_arena_device(handle_.get())));
    }
    /// Whether another process made the arena, and this one opened a ring or a counter of it by a
    /// descriptor. take_gpu() and take_host() then return the parts of that ring or counter.
    /// Contract and errors: barmap_arena_device().
    [[nodiscard]] bool opened() const noexcept {
        return barmap_arena_device(handle_.get()) == nullptr;
    }
    /// For calls of the C interface; the object keeps it.
    [[nodiscard]] barmap_arena* c_handle() const noexcept { return handle_.get(); }

private:
    [[nodiscard]] part take(int block, std::size_t bytes) const {
        return part(detail::made<barmap_arena_part>(
            [&](auto out) { return barmap_arena_take(handle_.get(), block, bytes, out); }));
    }

    detail::shared<barmap_arena, barmap_arena_retain, barmap_arena_destroy> handle_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
