// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/handle.hpp>
#include <barmap/mapping.hpp>
#include <barmap/report.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

class device;

/// A range of GPU memory, kept allocated so that the CPU can map it. Move-only. The memory stays
/// pinned until the pin and all of its mappings are destroyed. Keeps its device alive.
/// Thread rule: threads may call const members at once; destroying is exclusive.
class pin {
public:
    pin() noexcept = default; ///< empty: size() is 0

    /// The address that was pinned; 0 if it is of another process, or the pin is empty.
    /// Contract and errors: barmap_pin_gpu_address().
    [[nodiscard]] std::uintptr_t gpu_address() const noexcept {
        return handle_ ? barmap_pin_gpu_address(handle_.get()) : 0;
    }
    /// Bytes, as requested; with pin_options::whole_pages those of the pages.
    /// Contract and errors: barmap_pin_size().
    [[nodiscard]] std::size_t size() const noexcept {
        return handle_ ? barmap_pin_size(handle_.get()) : 0;
    }
    /// The kind of the pinned memory; memory_kind::unknown if the pin is empty.
    /// Contract and errors: barmap_pin_memory_kind().
    [[nodiscard]] memory_kind memory() const noexcept {
        return handle_ ? static_cast<memory_kind>(barmap_pin_memory_kind(handle_.get()))
                       : memory_kind::unknown;
    }
    /// The backend's name; "" if the pin is empty. Contract and errors: barmap_pin_backend().
    [[nodiscard]] std::string_view backend() const noexcept {
        return handle_ ? barmap_pin_backend(handle_.get()) : std::string_view{};
    }
    /// Takes over a handle of the C interface. @pre it is not NULL
    explicit pin(barmap_pin* of) noexcept : handle_(of) {}
    /// For calls of the C interface; null if it is empty.
    [[nodiscard]] barmap_pin* c_handle() const noexcept { return handle_.get(); }

    /// Makes CPU addresses for the whole range. Contract and errors: barmap_mapping_create().
    [[nodiscard]] mapping map() const {
        return mapping(detail::made<barmap_mapping>(
            [&](auto out) { return barmap_mapping_create(handle_.get(), out); }));
    }

    /// The same, with this kind of caching. Contract and errors: barmap_mapping_create_as().
    [[nodiscard]] mapping map(cache_kind kind) const {
        return mapping(detail::made<barmap_mapping>([&](auto out) {
            return barmap_mapping_create_as(handle_.get(), static_cast<int>(kind), out);
        }));
    }

    /// Makes a descriptor, which the caller closes, with which other processes open the memory.
    ///
    ///     int const descriptor = pin.share();
    ///     send_to(worker, descriptor); // there: barmap::open_shared(descriptor).map()
    ///     close(descriptor);
    ///
    /// Contract and errors: barmap_pin_share().
    [[nodiscard]] int share() const {
        int descriptor = -1;
        detail::check(barmap_pin_share(handle_.get(), &descriptor));
        return descriptor;
    }

    /// A report for each copy engine: whether mapping::copy_to_gpu() and copy_to_cpu() may use it
    /// for this memory, and if not, why. None for an empty pin.
    /// Contract and errors: barmap_pin_list_engines().
    [[nodiscard]] std::vector<engine_report> engines() const {
        if (!handle_)
            return {};
        return detail::reports<barmap_engine_row>(
            [&](auto out) { return barmap_pin_list_engines(handle_.get(), out); });
    }

    /// Whether the GPU driver has revoked the memory; false for an empty pin.
    /// Contract and errors: barmap_pin_revoked().
    [[nodiscard]] bool revoked() const {
        int result = 0;
        if (handle_)
            detail::check(barmap_pin_revoked(handle_.get(), &result));
        return result != 0;
    }

    /// A descriptor for poll(), select() and epoll, of a pin with pin_options::events. The pin owns
    /// it. Contract and errors: barmap_pin_event_fd().
    [[nodiscard]] int event_fd() const {
        int descriptor = -1;
        detail::check(barmap_pin_event_fd(handle_.get(), &descriptor));
        return descriptor;
    }

    /// The oldest event that was not read yet, of a pin with pin_options::events; nothing if there
    /// is none. Contract and errors: barmap_pin_next_event().
    [[nodiscard]] std::optional<pin_event> next_event() const {
        barmap_pin_event event{};
        int found = 0;
        detail::check(barmap_pin_next_event(handle_.get(), &event, &found));
        if (!found)
            return std::nullopt;
        return pin_event{event.gpu_address, event.size, event.sequence, event.lost};
    }

private:
    detail::owned<barmap_pin, barmap_pin_destroy> handle_;
};

/// Opens memory that another process has shared by pin::share(). Needs no CUDA.
///
///     barmap::mapping const map = barmap::open_shared(received_descriptor).map();
///     barmap::write(map.window(), std::as_bytes(std::span(batch)));
///
/// Contract and errors: barmap_pin_open_shared().
[[nodiscard]] inline pin open_shared(int descriptor) {
    return pin(detail::made<barmap_pin>(
        [&](auto out) { return barmap_pin_open_shared(descriptor, out); }));
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
