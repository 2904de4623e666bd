// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/mapping.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace barmap {
struct pin_state; ///< inside the library
}

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

class device;

/// A GPU memory range held reachable for the CPU. Move-only; unpins in its destructor, once no
/// mapping of it is left. Keeps its device alive.
/// Thread rule: const members may be called at once; destroying is exclusive.
class BARMAP_API pin {
public:
    pin() noexcept; ///< empty: size() is 0
    pin(pin&&) noexcept;
    pin& operator=(pin&&) noexcept;
    ~pin();

    /// The address that was pinned, a CUdeviceptr; with pin_options::whole_pages that of its page.
    /// 0 of another process's memory, which has none here.
    [[nodiscard]] std::uintptr_t gpu_address() const noexcept;
    /// Bytes, as requested; with pin_options::whole_pages those of the pages.
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] memory_kind memory() const noexcept;
    [[nodiscard]] std::string_view backend() const noexcept;

    /// Makes CPU addresses for the whole range.
    ///
    /// The first mapping through a backend also measures the copy routines there (a few
    /// milliseconds, in memory of barmap's own), unless BARMAP_COPY forces one. See
    /// share/doc/barmap/measuring.md.
    /// @throws error errc::bar1_exhausted, or what the backend reports
    [[nodiscard]] mapping map() const;

    /// The same, with this kind of caching.
    /// @throws error errc::unsupported_operation if the backend cannot map with it
    [[nodiscard]] mapping map(cache_kind kind) const;

    /// Whether the GPU driver has revoked the memory, so that mappings of it fault. Only gdrdrv
    /// in callback mode lets it do so; all others keep the memory until it is unpinned.
    /// @throws error what gdrdrv reports
    [[nodiscard]] bool revoked() const;

    /// A descriptor for poll(), select() and epoll, of a pin with pin_options::events: readable
    /// when next_event() has something. It is the pin's; only wait with it. In a forked child it
    /// reports POLLERR.
    /// @throws error errc::invalid_argument for a pin without events
    [[nodiscard]] int event_fd() const;

    /// The oldest event that was not read yet, of a pin with pin_options::events. Never waits.
    /// When it is delivered, no mapping of the pin reaches that memory any more: touching it raises
    /// SIGBUS. A range that consists of several allocations has an event for each.
    /// @throws error errc::invalid_argument for a pin without events, errc::forked_child, or what
    /// gdrdrv reports
    [[nodiscard]] std::optional<pin_event> next_event() const;

private:
    friend class device;
    explicit pin(std::shared_ptr<pin_state const> state) noexcept;
    std::shared_ptr<pin_state const> state_;
};

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
