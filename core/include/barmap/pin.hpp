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

    /// The address that was pinned, a CUdeviceptr; with pin_options::whole_pages that of its page.
    /// 0 for memory of another process, which has no GPU address here.
    [[nodiscard]] std::uintptr_t gpu_address() const noexcept {
        return handle_ ? barmap_pin_gpu_address(handle_.get()) : 0;
    }
    /// Bytes, as requested; with pin_options::whole_pages those of the pages.
    [[nodiscard]] std::size_t size() const noexcept {
        return handle_ ? barmap_pin_size(handle_.get()) : 0;
    }
    [[nodiscard]] memory_kind memory() const noexcept {
        return handle_ ? static_cast<memory_kind>(barmap_pin_memory_kind(handle_.get()))
                       : memory_kind::unknown;
    }
    [[nodiscard]] std::string_view backend() const noexcept {
        return handle_ ? barmap_pin_backend(handle_.get()) : std::string_view{};
    }
    /// Takes over a handle of the C interface. @pre it is not NULL
    explicit pin(barmap_pin* of) noexcept : handle_(of) {}
    /// For calls of the C interface; null if it is empty.
    [[nodiscard]] barmap_pin* c_handle() const noexcept { return handle_.get(); }

    /// Makes CPU addresses for the whole range.
    ///
    /// The first mapping through a backend also measures the copy routines there (a few
    /// milliseconds, in barmap's own memory), unless BARMAP_COPY forces one. See
    /// share/doc/barmap/measuring.md.
    /// @throws error errc::bar1_exhausted, or what the backend reports
    [[nodiscard]] mapping map() const {
        return mapping(detail::made<barmap_mapping>(
            [&](auto out) { return barmap_mapping_create(handle_.get(), out); }));
    }

    /// The same, with this kind of caching.
    /// @throws error errc::unsupported_operation if the backend cannot map with it
    [[nodiscard]] mapping map(cache_kind kind) const {
        return mapping(detail::made<barmap_mapping>([&](auto out) {
            return barmap_mapping_create_as(handle_.get(), static_cast<int>(kind), out);
        }));
    }

    /// Makes a descriptor with which any process of this machine that may open the GPU's device
    /// files can open the memory, by open_shared(). Pass it on like any other, with SCM_RIGHTS,
    /// fork() or pidfd_getfd(); you need to send nothing else.
    ///
    /// The descriptor is the permission to read and write this memory: each process that holds it
    /// may do both as long as it likes. The memory stays allocated until the descriptor, and every
    /// pin and mapping that was opened with it, are gone, even if this pin and this process end
    /// before.
    /// @return a new descriptor, close-on-exec, which the caller closes
    /// @throws error errc::unsupported_operation (memory pinned by gdrdrv or vulkan; more than 4096
    ///         memory objects, with dmabuf 253), errc::invalid_argument for an empty pin,
    ///         errc::forked_child, or what the system or the driver reports
    ///
    ///     int const descriptor = pin.share();
    ///     send_to(worker, descriptor); // there: barmap::open_shared(descriptor).map()
    ///     close(descriptor);
    [[nodiscard]] int share() const {
        int descriptor = -1;
        detail::check(barmap_pin_share(handle_.get(), &descriptor));
        return descriptor;
    }

    /// A report for each copy engine, in order: whether mapping::copy_to_gpu() and copy_to_cpu()
    /// may use it for this memory, and if not, why. Without an engine, they use loads and stores.
    /// Starts the engines that were not needed so far. In a process that opened the memory without
    /// CUDA, only barmap's channel can copy, and only with backend rm.
    /// @throws error errc::forked_child
    [[nodiscard]] std::vector<engine_report> engines() const {
        if (!handle_)
            return {};
        return detail::reports<barmap_engine_row>(
            [&](auto out) { return barmap_pin_list_engines(handle_.get(), out); });
    }

    /// Whether the GPU driver has revoked the memory, so that accesses to its mappings fault. Only
    /// gdrdrv in callback mode allows this; all other backends keep the memory until it is
    /// unpinned.
    /// @throws error what gdrdrv reports
    [[nodiscard]] bool revoked() const {
        int result = 0;
        if (handle_)
            detail::check(barmap_pin_revoked(handle_.get(), &result));
        return result != 0;
    }

    /// A descriptor for poll(), select() and epoll, of a pin with pin_options::events: readable
    /// when next_event() will return an event. The pin owns it: do not read or close it. In a
    /// forked child it reports POLLERR.
    /// @throws error errc::invalid_argument for a pin without events
    [[nodiscard]] int event_fd() const {
        int descriptor = -1;
        detail::check(barmap_pin_event_fd(handle_.get(), &descriptor));
        return descriptor;
    }

    /// The oldest event that was not read yet, of a pin with pin_options::events; nothing if there
    /// is none. Never waits. Once an event is delivered, no mapping of the pin reaches that memory
    /// any more: touching it raises SIGBUS. A range of several allocations has an event for each.
    /// @throws error errc::invalid_argument for a pin without events, errc::forked_child, or what
    ///         gdrdrv reports
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

/// Opens memory that another process has shared by pin::share(). Needs neither CUDA nor a CUDA
/// context, and starts neither; a forked child may open its own.
///
/// The pin has no GPU address in this process: gpu_address() is 0. You can map it and share it
/// further. It keeps the memory even if the descriptor is closed and the process that shared it
/// ends.
/// @param descriptor stays the caller's, and may be opened any number of times
/// @throws error errc::invalid_argument if share() did not make the descriptor;
///         errc::backend_absent if the GPU or its device files are missing;
///         errc::unsupported_memory, errc::out_of_range or errc::wrong_device if a process has
///         changed what the descriptor says; errc::unsupported_operation if an incompatible version
///         of barmap made it; what the system or the driver reports
///
///     barmap::mapping const map = barmap::open_shared(received_descriptor).map();
///     barmap::write(map.window(), std::as_bytes(std::span(batch)));
[[nodiscard]] inline pin open_shared(int descriptor) {
    return pin(detail::made<barmap_pin>(
        [&](auto out) { return barmap_pin_open_shared(descriptor, out); }));
}

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
