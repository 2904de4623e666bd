// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/backend.hpp>
#include <barmap/window.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace barmap {
struct mapping_state; ///< inside the library
}

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

class pin;

/// CPU addresses of pinned GPU memory. Move-only; unmaps in its destructor and keeps its pin alive.
///
/// Freeing the GPU memory (cuMemFree) under a live mapping is safe where the backend is persistent
/// (all but gdrdrv in callback mode): the mapping keeps the physical memory until it is destroyed.
/// After fork() the child has no mapping: it may only destroy the object.
/// Thread rule: any number of threads may copy through one mapping; destroying it is exclusive.
class BARMAP_API mapping {
public:
    mapping() noexcept; ///< empty: size() is 0
    mapping(mapping&&) noexcept;
    mapping& operator=(mapping&&) noexcept;
    ~mapping();

    /// CPU address of the first byte that was pinned, whatever its alignment.
    [[nodiscard]] std::byte* data() const noexcept;
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] cache_kind kind() const noexcept;
    [[nodiscard]] std::string_view backend() const noexcept;

    /// The whole mapping as a window. Costs nothing.
    [[nodiscard]] barmap::window window() const& noexcept;
    /// A part of it. @throws error errc::out_of_range if it does not lie inside
    [[nodiscard]] barmap::window window(std::size_t offset, std::size_t bytes) const&;
    /// A window of a mapping that ends with the statement would dangle: keep the mapping.
    barmap::window window() const&& = delete;
    barmap::window window(std::size_t offset, std::size_t bytes) const&& = delete;

    /// Names of the copy routines that a transfer of that many bytes uses. An aligned word of up to
    /// 8 bytes is written without one.
    [[nodiscard]] std::string_view store_routine(std::size_t bytes) const noexcept;
    [[nodiscard]] std::string_view load_routine(std::size_t bytes) const noexcept;

    /// Forces one copy routine on this mapping and all its windows (BARMAP_COPY does so for all
    /// mappings). Not while another thread copies through it.
    /// @throws error errc::invalid_argument for an unknown name,
    ///         errc::unsupported_operation if the CPU or the operating system lacks it
    void use_copy_routine(std::string_view name);

private:
    friend class pin;
    explicit mapping(std::unique_ptr<mapping_state> state) noexcept;
    std::unique_ptr<mapping_state> state_;
};

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
