// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/batch_queue.hpp>
#include <barmap/handle.hpp>
#include <barmap/host_buffer.hpp>
#include <barmap/pin.hpp>
#include <barmap/report.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// One GPU, and the backends by which this process reaches its memory.
///
/// Keep one handle open as long as a kernel waits for the CPU: opening a device, starting a backend
/// (backends(), allocate()), and destroying the last handle, pin or mapping allocate or free memory
/// with CUDA, which waits for running kernels.
///
/// A cheap handle: copies share one state, and opening the same GPU twice gives the same one.
/// Moving copies, so that no handle is ever empty. Thread rule: threads may share a handle, and
/// call any members at once.
class device {
public:
    /// How many GPUs CUDA shows to this process; 0 if the driver is missing or cannot be loaded.
    [[nodiscard]] static int count() noexcept { return barmap_device_count(); }

    /// The CUDA ordinal of the GPU whose context is current in the calling thread; 0 where the thread
    /// has no context, or where there is no driver. Makes no context.
    [[nodiscard]] static int current_ordinal() noexcept { return barmap_device_current(); }

    /// Opens a GPU by its CUDA ordinal; starts and self-tests the backends that start quickly.
    /// Waits for another thread only if that opens the same GPU.
    ///
    /// BARMAP_SIM=1 loads the simulated GPU instead of the driver. BARMAP_BACKEND=NAME allows one
    /// backend only. BARMAP_REQUIRE=NAME,... requires each of these.
    /// Uses the calling thread's context on that GPU if there is one, else the primary context.
    /// @throws error errc::no_device; errc::backend_absent or errc::backend_broken if a forced or
    ///         required backend is not usable; errc::forked_child in a child of a process that
    ///         opened a GPU, or tried to
    [[nodiscard]] static device open(int ordinal) {
        return device(detail::made<barmap_device>(
            [&](auto out) { return barmap_device_create(ordinal, out); }));
    }
    /// Opens the GPU of current_ordinal().
    [[nodiscard]] static device open() {
        return device(detail::made<barmap_device>(
            [&](auto out) { return barmap_device_create_current(out); }));
    }

    /// Opens the GPU that owns this address.
    /// @throws error errc::unsupported_memory, errc::invalid_argument (null), or as open()
    [[nodiscard]] static device from_pointer(void const* gpu_pointer) {
        auto const address = reinterpret_cast<std::uintptr_t>(gpu_pointer);
        return device(detail::made<barmap_device>(
            [&](auto out) { return barmap_device_create_from_pointer(address, out); }));
    }

    /// Opens the GPU that owns the memory in the pages of gpu_page_size bytes that
    /// [gpu_address, gpu_address + bytes) touches.
    /// @throws error as from_pointer(), errc::out_of_range for a page without memory
    [[nodiscard]] static device from_pages(std::uintptr_t gpu_address, std::size_t bytes) {
        return device(detail::made<barmap_device>(
            [&](auto out) { return barmap_device_create_from_pages(gpu_address, bytes, out); }));
    }

    /// Reports of the backends that start quickly, before their self-test: `usable` means that the
    /// backend can be tried. Takes about a millisecond, needs no CUDA context and makes none: for
    /// programs that only decide whether to use barmap.
    /// @throws error errc::no_device, errc::invalid_argument for an unknown BARMAP_BACKEND, or what
    ///         CUDA reports
    [[nodiscard]] static std::vector<backend_report> probe(int ordinal) {
        return detail::reports<barmap_backend_row>(
            [&](auto out) { return barmap_list_probed_backends(ordinal, out); });
    }

    /// Registers memory that the caller owns: any address and length inside one allocation, or
    /// inside several contiguous VMM chunks. The calling thread needs no CUDA context.
    ///
    /// @param gpu_pointer address on this GPU
    /// @param bytes       greater than 0
    /// @param how         for example `{.backend = "rm"}`; the defaults suit every program but
    ///                    those that follow gdrcopy's rules
    /// @throws error errc::invalid_argument, errc::out_of_range, errc::unsupported_memory (names
    ///         the kind of memory and what to do), errc::wrong_device, errc::backend_absent or
    ///         errc::backend_broken (no backend that maps this memory is usable),
    ///         errc::unsupported_operation (none can meet the options), errc::unknown_layout,
    ///         errc::forked_child, or what the system or the driver reports
    [[nodiscard]] barmap::pin pin(void const* gpu_pointer, std::size_t bytes,
                                  pin_options const& how = {}) const {
        return pin(reinterpret_cast<std::uintptr_t>(gpu_pointer), bytes, how);
    }
    [[nodiscard]] barmap::pin pin(std::uintptr_t gpu_address, std::size_t bytes,
                                  pin_options const& how = {}) const {
        barmap_pin_options const options = options_of(how);
        return barmap::pin(detail::made<barmap_pin>([&](auto out) {
            return barmap_pin_create(handle_.get(), gpu_address, bytes, &options, out);
        }));
    }

    /// Registers cudaMalloc memory of another process of this machine. This process need not open
    /// the memory with CUDA, and it has no GPU address here: pin::gpu_address() is 0. The pin keeps
    /// the memory even if its owner frees it or ends.
    ///
    /// As with CUDA, a handle is valid until its owner frees the memory. Afterwards it may name
    /// other memory, of any process.
    /// @param handle of an allocation on this GPU, from its owner
    /// @param offset of the first byte in the allocation
    /// @param bytes  greater than 0
    /// @throws error errc::unsupported_memory if no such memory is there, errc::out_of_range,
    ///         errc::wrong_device, errc::unsupported_operation (whole pages or events); else as
    ///         above
    ///
    ///     cudaIpcMemHandle_t handle = received_from_the_owner();
    ///     barmap::pin pin = gpu.pin(handle, 0, 4096);
    [[nodiscard]] barmap::pin pin(ipc_handle const& handle, std::size_t offset, std::size_t bytes,
                                  pin_options const& how = {}) const {
        barmap_pin_options const options = options_of(how);
        return barmap::pin(detail::made<barmap_pin>([&](auto out) {
            return barmap_pin_create_ipc(handle_.get(), handle.bytes.data(), offset, bytes, &options,
                                         out);
        }));
    }

    /// Allocates GPU memory that can be mapped. It lives as long as the pin and its
    /// mappings. Every context on this GPU may use gpu_address(); with backend vulkan, only the
    /// context that was current, or the primary one.
    ///
    /// Uses the named backend, or the first usable one, as pin() does.
    /// @throws error errc::invalid_argument for 0 bytes; errc::backend_absent or
    ///         errc::backend_broken (no backend is usable); errc::unsupported_operation (the
    ///         backend does not allocate); errc::forked_child; the driver's out-of-memory
    [[nodiscard]] barmap::pin allocate(std::size_t bytes, std::string_view backend = {}) const {
        std::string const by(backend);
        return barmap::pin(detail::made<barmap_pin>([&](auto out) {
            return barmap_pin_allocate(handle_.get(), bytes, by.c_str(), out);
        }));
    }

    /// Allocates host memory that copy engines reach directly.
    /// @throws error errc::invalid_argument for 0 bytes; errc::forked_child; what the system or
    ///         CUDA reports if that much memory cannot be pinned
    [[nodiscard]] host_buffer allocate_host(std::size_t bytes) const {
        return host_buffer(detail::made<barmap_host_buffer>(
            [&](auto out) { return barmap_host_buffer_create(handle_.get(), bytes, out); }));
    }

    /// The queue that copies batches of scattered pieces. Starts an engine, in about 15 ms, unless
    /// another handle of the queue is alive: keep one.
    /// @throws error errc::backend_absent or errc::backend_broken if no engine is usable, or
    ///         BARMAP_ENGINE allows none; errc::forked_child
    [[nodiscard]] barmap::batch_queue batch_queue() const {
        return barmap::batch_queue(detail::made<barmap_batch_queue>(
            [&](auto out) { return barmap_batch_queue_create(handle_.get(), out); }));
    }

    [[nodiscard]] int ordinal() const noexcept { return barmap_device_ordinal(handle_.get()); }
    [[nodiscard]] std::string name() const { return barmap_device_name(handle_.get()); }
    /// "0000:65:00.0"
    [[nodiscard]] std::string pci_address() const {
        return barmap_device_pci_address(handle_.get());
    }
    /// Of the CUDA API, 13000 for 13.0.
    [[nodiscard]] int driver_version() const noexcept {
        return barmap_device_driver_version(handle_.get());
    }
    [[nodiscard]] bool simulated() const noexcept {
        return barmap_device_simulated(handle_.get()) != 0;
    }
    /// Zeros if no usable backend reports the size; BARMAP_LOG=info says why.
    /// @throws error errc::forked_child, errc::checkpointed
    [[nodiscard]] bar1_info bar1() const {
        bar1_info result;
        detail::check(barmap_device_bar1(handle_.get(), &result.total, &result.available));
        return result;
    }

    /// A report for each backend, in order. Starts those that have not been needed so far.
    [[nodiscard]] std::vector<backend_report> backends() const { return list_backends(1); }

    /// Reports of those that have been started so far. Starts nothing.
    [[nodiscard]] std::vector<backend_report> started_backends() const {
        return list_backends(0);
    }

    /// A report for each copy engine, in order. Starts those that have not been needed so far.
    [[nodiscard]] std::vector<engine_report> engines() const { return list_engines(1); }

    /// Reports of those that have been started so far. Starts nothing.
    [[nodiscard]] std::vector<engine_report> started_engines() const {
        return list_engines(0);
    }

    /// The sizes from which mapping::copy_to_gpu() and copy_to_cpu() use each method, for mappings
    /// of a backend. Starts and measures the engines, unless a copy has done so before.
    /// @param backend its name
    /// @throws error errc::backend_absent or errc::backend_broken if the backend, or the engine
    ///         that BARMAP_ENGINE names, is not usable; errc::invalid_argument
    [[nodiscard]] std::vector<copy_crossover> copy_crossovers(std::string_view backend) const {
        std::string const of(backend);
        return detail::reports<barmap_crossover_row>([&](auto out) {
            return barmap_device_list_crossovers(handle_.get(), of.c_str(), out);
        });
    }

    /// Takes over a handle of the C interface, or one use of it. @pre it is not NULL
    explicit device(barmap_device* of) noexcept : handle_(of) {}
    /// For calls of the C interface; the object keeps it.
    [[nodiscard]] barmap_device* c_handle() const noexcept { return handle_.get(); }

private:

    static barmap_pin_options options_of(pin_options const& how) noexcept {
        return {sizeof(barmap_pin_options), how.backend.c_str(),
                (how.whole_pages ? std::uint64_t{BARMAP_PIN_WHOLE_PAGES} : 0) |
                    (how.force_pcie ? std::uint64_t{BARMAP_PIN_FORCE_PCIE} : 0) |
                    (how.events ? std::uint64_t{BARMAP_PIN_EVENTS} : 0),
                how.p2p_token, how.va_space};
    }
    [[nodiscard]] std::vector<backend_report> list_backends(int start) const {
        return detail::reports<barmap_backend_row>(
            [&](auto out) { return barmap_device_list_backends(handle_.get(), start, out); });
    }
    [[nodiscard]] std::vector<engine_report> list_engines(int start) const {
        return detail::reports<barmap_engine_row>(
            [&](auto out) { return barmap_device_list_engines(handle_.get(), start, out); });
    }

    detail::shared<barmap_device, barmap_device_retain, barmap_device_destroy> handle_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
