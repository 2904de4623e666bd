// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/copy.hpp>
#include <barmap/types.hpp>
#include <barmap/values.hpp>
#include <barmap/window.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace barmap {
struct mapping_state; ///< inside the library
}

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

class pin;

/// CPU addresses of pinned GPU memory. Move-only; unmaps in its destructor and keeps its pin alive.
///
/// Freeing the GPU memory (cuMemFree) under a live mapping is safe if the backend is persistent
/// (all but gdrdrv in callback mode): the mapping keeps the physical memory until it is destroyed.
/// After fork() the child has no mapping: it may only destroy the object.
/// Thread rule: any number of threads may copy through one mapping; destroying it is exclusive.
class BARMAP_API mapping {
public:
    mapping() noexcept; ///< empty: size() is 0
    mapping(mapping&&) noexcept;
    mapping& operator=(mapping&&) noexcept;
    ~mapping();

    /// CPU address of the first pinned byte, which may have any alignment.
    [[nodiscard]] std::byte* data() const noexcept;
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] cache_kind kind() const noexcept;
    [[nodiscard]] std::string_view backend() const noexcept;

    /// The whole mapping as a window; makes no call.
    [[nodiscard]] barmap::window window() const& noexcept;
    /// A part of the mapping. @throws error errc::out_of_range if it does not lie inside
    [[nodiscard]] barmap::window window(std::size_t offset, std::size_t bytes) const&;
    /// A window of a temporary mapping would dangle: keep the mapping in a variable.
    barmap::window window() const&& = delete;
    barmap::window window(std::size_t offset, std::size_t bytes) const&& = delete;

    /// Copies bytes to [offset, offset + bytes.size()) of the GPU memory with whatever is fastest
    /// for this size and this host memory: stores through the mapping, or a copy engine of the GPU.
    /// After it has returned, the rules after write() apply: later reads and work that is submitted
    /// later see the bytes. The copy does not overtake earlier calls of write() and post() by this
    /// thread.
    ///
    ///     map.copy_to_gpu(0, std::as_bytes(std::span(weights)));
    ///
    /// A copy below 32 KiB is a write(). The first larger one starts the GPU's engines and measures
    /// them (share/doc/barmap/copy-engine.md). Larger copies may lock, call the driver, and wait:
    /// use write() in code that must not.
    /// Thread rule: any number of threads may copy at once.
    /// @throws error errc::out_of_range; errc::copy_unfinished if an engine has failed and could
    ///         not be stopped (if it could, the copy is made in another way); errc::forked_child;
    ///         errc::backend_absent or errc::backend_broken if BARMAP_ENGINE names an engine that
    ///         is not usable; std::bad_alloc
    void copy_to_gpu(std::size_t offset, std::span<std::byte const> bytes) const {
        if (holds(offset, bytes.size()) && bytes.size() < contest_from_.to_gpu)
            write(barmap::window{whole_.data + offset, bytes.size(), whole_.plan}, bytes);
        else
            copy_much_to_gpu(offset, bytes);
    }
    /// The same for values of a trivially copyable type.
    template <class Values>
    requires copyable_values<Values const&>
    void copy_to_gpu(std::size_t offset, Values const& values) const {
        copy_to_gpu(offset, std::as_bytes(std::span(values)));
    }

    /// Copies [offset, offset + bytes.size()) of the GPU memory to the host, with whatever is
    /// fastest: loads through the mapping, or a copy engine. It sees all that this thread wrote
    /// with write() and post() before, and never delivers a value older than one that this thread
    /// has already read.
    ///
    ///     std::vector<float> result(1 << 20);
    ///     map.copy_to_cpu(result, 0);
    ///
    /// A copy below 1 KiB is a read(); else as copy_to_gpu(). @throws as copy_to_gpu()
    void copy_to_cpu(std::span<std::byte> bytes, std::size_t offset) const {
        if (holds(offset, bytes.size()) && bytes.size() < contest_from_.to_cpu)
            read(bytes, barmap::window{whole_.data + offset, bytes.size(), whole_.plan});
        else
            copy_much_to_cpu(bytes, offset);
    }
    /// The same into values of a trivially copyable type: all of them are copied.
    template <assignable_values Values>
    void copy_to_cpu(Values&& values, std::size_t offset) const {
        copy_to_cpu(std::as_writable_bytes(std::span(values)), offset);
    }

    /// The least size, in bytes, for which copy_to_gpu() or copy_to_cpu() may use an engine, lock or
    /// wait: a smaller copy is a write() or a read(), which takes a microsecond or two.
    [[nodiscard]] std::size_t engines_from(copy_direction way) const noexcept {
        return way == copy_direction::to_gpu ? contest_from_.to_gpu : contest_from_.to_cpu;
    }

    /// Names of the copy routines that write() and read() of that many bytes use. An aligned word
    /// of up to 8 bytes is written without a routine.
    [[nodiscard]] std::string_view store_routine(std::size_t bytes) const noexcept;
    [[nodiscard]] std::string_view load_routine(std::size_t bytes) const noexcept;

    /// The whole mapping as a window whose writes and reads one routine makes, whatever their size:
    /// to compare routines.
    ///
    ///     barmap::write(map.window_by("avx2"), host);
    ///
    /// @throws error as use_copy_routine(); std::bad_alloc
    [[nodiscard]] barmap::window window_by(std::string_view routine) const&;
    barmap::window window_by(std::string_view routine) const&& = delete;

    /// Makes this mapping and all its windows use one copy routine (BARMAP_COPY does this for all
    /// mappings). Do not call it while another thread copies through the mapping.
    /// @throws error errc::invalid_argument for an unknown name,
    ///         errc::unsupported_operation if the CPU or the operating system lacks it
    void use_copy_routine(std::string_view name);

private:
    friend class pin;
    explicit mapping(std::unique_ptr<mapping_state> state) noexcept;

    [[nodiscard]] bool holds(std::size_t offset, std::size_t bytes) const noexcept {
        return offset <= whole_.size && bytes <= whole_.size - offset;
    }
    void copy_much_to_gpu(std::size_t offset, std::span<std::byte const> bytes) const;
    void copy_much_to_cpu(std::span<std::byte> bytes, std::size_t offset) const;

    std::unique_ptr<mapping_state> state_;
    barmap::window whole_;
    struct {
        std::size_t to_gpu = 1, to_cpu = 1;
    } contest_from_; ///< the least bytes for which another method than loads and stores is asked
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
