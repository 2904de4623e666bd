// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/copy.hpp>
#include <barmap/handle.hpp>
#include <barmap/types.hpp>
#include <barmap/values.hpp>
#include <barmap/window.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

class pin;

namespace detail {

inline window window_of(barmap_window const& of) noexcept {
    return {static_cast<std::byte*>(of.data), of.size, static_cast<copy_plan const*>(of.plan)};
}

} // namespace detail

/// CPU addresses of pinned GPU memory. Move-only; unmaps in its destructor and keeps its pin alive.
///
/// Freeing the GPU memory (cuMemFree) under a live mapping is safe if the backend is persistent
/// (all but gdrdrv in callback mode): the mapping keeps the physical memory until it is destroyed.
/// After fork() the child has no mapping: it may only destroy the object.
/// Thread rule: any number of threads may copy through one mapping; destroying it is exclusive.
class mapping {
public:
    mapping() noexcept = default; ///< empty: size() is 0
    mapping(mapping&& other) noexcept
        : handle_(std::move(other.handle_)), whole_(std::exchange(other.whole_, {})),
          engines_from_(other.engines_from_) {}
    mapping& operator=(mapping&& other) noexcept {
        whole_ = std::exchange(other.whole_, {});
        handle_ = std::move(other.handle_);
        engines_from_ = other.engines_from_;
        return *this;
    }
    ~mapping() = default;

    /// CPU address of the first pinned byte; null if the mapping is empty.
    /// Contract and errors: barmap_mapping_data().
    [[nodiscard]] std::byte* data() const noexcept { return whole_.data; }
    /// Bytes, those of the pin. Contract and errors: barmap_mapping_size().
    [[nodiscard]] std::size_t size() const noexcept { return whole_.size; }
    /// How the CPU caches it. Contract and errors: barmap_mapping_kind().
    [[nodiscard]] cache_kind kind() const noexcept {
        return handle_ ? static_cast<cache_kind>(barmap_mapping_kind(handle_.get()))
                       : cache_kind::write_combining;
    }
    /// The backend's name; "" if the mapping is empty.
    /// Contract and errors: barmap_mapping_backend().
    [[nodiscard]] std::string_view backend() const noexcept {
        return handle_ ? barmap_mapping_backend(handle_.get()) : std::string_view{};
    }
    /// Takes over a handle of the C interface. @pre it is not NULL
    explicit mapping(barmap_mapping* of) noexcept : handle_(of) {
        barmap_window whole{};
        barmap_mapping_window(of, &whole);
        whole_ = detail::window_of(whole);
        find_engines();
    }
    /// For calls of the C interface; null if it is empty.
    [[nodiscard]] barmap_mapping* c_handle() const noexcept { return handle_.get(); }

    /// The whole mapping as a window; makes no call. Contract and errors: barmap_mapping_window().
    [[nodiscard]] barmap::window window() const& noexcept { return whole_; }
    /// A part of the mapping. Contract and errors: barmap_mapping_part().
    [[nodiscard]] barmap::window window(std::size_t offset, std::size_t bytes) const& {
        if (!holds(offset, bytes))
            detail::check(barmap_mapping_part(handle_.get(), offset, bytes, nullptr));
        return whole_.subwindow(offset, bytes);
    }
    /// A window of a temporary mapping would dangle: keep the mapping in a variable.
    barmap::window window() const&& = delete;
    barmap::window window(std::size_t offset, std::size_t bytes) const&& = delete;

    /// Copies bytes to [offset, offset + bytes.size()) of the GPU memory with whatever is fastest
    /// for this size and this host memory. A small copy is a write(); see engines_from(). An empty
    /// mapping has no bytes: errc::out_of_range.
    ///
    ///     map.copy_to_gpu(0, std::as_bytes(std::span(weights)));
    ///
    /// Contract and errors: barmap_mapping_copy_to_gpu().
    void copy_to_gpu(std::size_t offset, std::span<std::byte const> bytes) const {
        if (holds(offset, bytes.size()) && bytes.size() < engines_from_.to_gpu)
            write(barmap::window{whole_.data + offset, bytes.size(), whole_.plan}, bytes);
        else if (!handle_)
            detail::check(barmap_mapping_part(nullptr, offset, bytes.size(), nullptr));
        else
            detail::check(barmap_mapping_copy_to_gpu(handle_.get(), offset, bytes.data(), bytes.size()));
    }
    /// The same for values of a trivially copyable type.
    template <class Values>
    requires copyable_values<Values const&>
    void copy_to_gpu(std::size_t offset, Values const& values) const {
        copy_to_gpu(offset, std::span<std::byte const>(std::as_bytes(std::span(values))));
    }

    /// Copies [offset, offset + bytes.size()) of the GPU memory to the host, with whatever is
    /// fastest. A small copy is a read(); see engines_from().
    ///
    ///     std::vector<float> result(1 << 20);
    ///     map.copy_to_cpu(result, 0);
    ///
    /// Contract and errors: barmap_mapping_copy_to_cpu().
    void copy_to_cpu(std::span<std::byte> bytes, std::size_t offset) const {
        if (holds(offset, bytes.size()) && bytes.size() < engines_from_.to_cpu)
            read(bytes, barmap::window{whole_.data + offset, bytes.size(), whole_.plan});
        else if (!handle_)
            detail::check(barmap_mapping_part(nullptr, offset, bytes.size(), nullptr));
        else
            detail::check(barmap_mapping_copy_to_cpu(handle_.get(), bytes.data(), offset, bytes.size()));
    }
    /// The same into values of a trivially copyable type: all of them are copied.
    template <assignable_values Values>
    void copy_to_cpu(Values&& values, std::size_t offset) const {
        copy_to_cpu(std::span<std::byte>(std::as_writable_bytes(std::span(values))), offset);
    }

    /// The least size, in bytes, for which copy_to_gpu() or copy_to_cpu() may use an engine, lock
    /// or wait. Contract and errors: barmap_mapping_engines_from().
    [[nodiscard]] std::size_t engines_from(copy_direction way) const noexcept {
        return way == copy_direction::to_gpu ? engines_from_.to_gpu : engines_from_.to_cpu;
    }

    /// Name of the copy routine with which write() stores that many bytes; "" if the mapping is
    /// empty. Contract and errors: barmap_mapping_routine().
    [[nodiscard]] std::string_view store_routine(std::size_t bytes) const noexcept {
        return routine(BARMAP_TO_GPU, bytes);
    }
    /// The same for read(). Contract and errors: barmap_mapping_routine().
    [[nodiscard]] std::string_view load_routine(std::size_t bytes) const noexcept {
        return routine(BARMAP_TO_CPU, bytes);
    }

    /// The whole mapping as a window whose writes and reads one routine makes: to compare routines.
    ///
    ///     barmap::write(map.window_by("avx2"), host);
    ///
    /// Contract and errors: barmap_mapping_window_by().
    [[nodiscard]] barmap::window window_by(std::string_view routine) const& {
        barmap_window found{};
        detail::check(barmap_mapping_window_by(handle_.get(), std::string(routine).c_str(), &found));
        return detail::window_of(found);
    }
    barmap::window window_by(std::string_view routine) const&& = delete;

    /// Makes this mapping and all its windows use one copy routine.
    /// Contract and errors: barmap_mapping_use_routine().
    void use_copy_routine(std::string_view name) {
        detail::check(barmap_mapping_use_routine(handle_.get(), std::string(name).c_str()));
    }

    /// Makes copy_to_gpu() and copy_to_cpu() through this mapping use one engine: to compare
    /// engines.
    ///
    ///     map.use_engine("driver");
    ///
    /// Contract and errors: barmap_mapping_use_engine().
    void use_engine(std::string_view name) {
        detail::check(barmap_mapping_use_engine(handle_.get(), std::string(name).c_str()));
        find_engines();
    }

private:
    [[nodiscard]] bool holds(std::size_t offset, std::size_t bytes) const noexcept {
        return offset <= whole_.size && bytes <= whole_.size - offset;
    }
    void find_engines() noexcept {
        engines_from_ = {barmap_mapping_engines_from(handle_.get(), BARMAP_TO_GPU),
                         barmap_mapping_engines_from(handle_.get(), BARMAP_TO_CPU)};
    }
    [[nodiscard]] std::string_view routine(int direction, std::size_t bytes) const noexcept {
        return handle_ ? barmap_mapping_routine(handle_.get(), direction, bytes)
                       : std::string_view{};
    }
    detail::owned<barmap_mapping, barmap_mapping_destroy> handle_;
    barmap::window whole_;
    struct {
        std::size_t to_gpu = 1, to_cpu = 1;
    } engines_from_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
