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
/// Keep one handle open as long as a kernel waits for the CPU (barmap_device_create()).
///
/// A cheap handle: copies share one state, and opening the same GPU twice gives the same one.
/// Moving copies, so that no handle is ever empty. Thread rule: threads may share a handle, and
/// call any members at once.
class device {
public:
    /// How many GPUs CUDA shows to this process. Contract and errors: barmap_device_count().
    [[nodiscard]] static int count() noexcept { return barmap_device_count(); }

    /// The CUDA ordinal of the GPU whose context is current in this thread.
    /// Contract and errors: barmap_device_current().
    [[nodiscard]] static int current_ordinal() noexcept { return barmap_device_current(); }

    /// Opens a GPU by its CUDA ordinal. Contract and errors: barmap_device_create().
    [[nodiscard]] static device open(int ordinal) {
        return device(detail::made<barmap_device>(
            [&](auto out) { return barmap_device_create(ordinal, out); }));
    }
    /// Opens the GPU of current_ordinal(). Contract and errors: barmap_device_create_current().
    [[nodiscard]] static device open() {
        return device(detail::made<barmap_device>(
            [&](auto out) { return barmap_device_create_current(out); }));
    }

    /// Opens the GPU that owns this address.
    /// Contract and errors: barmap_device_create_from_pointer().
    [[nodiscard]] static device from_pointer(void const* gpu_pointer) {
        auto const address = reinterpret_cast<std::uintptr_t>(gpu_pointer);
        return device(detail::made<barmap_device>(
            [&](auto out) { return barmap_device_create_from_pointer(address, out); }));
    }

    /// Opens the GPU that owns the memory in the pages of gpu_page_size bytes that [gpu_address,
    /// gpu_address + bytes) touches. Contract and errors: barmap_device_create_from_pages().
    [[nodiscard]] static device from_pages(std::uintptr_t gpu_address, std::size_t bytes) {
        return device(detail::made<barmap_device>(
            [&](auto out) { return barmap_device_create_from_pages(gpu_address, bytes, out); }));
    }

    /// Reports of backends before their self-test, for programs that only decide whether to use
    /// barmap. Contract and errors: barmap_list_probed_backends().
    [[nodiscard]] static std::vector<backend_report> probe(int ordinal) {
        return detail::reports<barmap_backend_row>(
            [&](auto out) { return barmap_list_probed_backends(ordinal, out); });
    }

    /// Pins memory that the caller owns, for example with the options `{.backend = "rm"}`.
    /// Contract and errors: barmap_pin_create().
    [[nodiscard]] barmap::pin pin(void const* gpu_pointer, std::size_t bytes,
                                  pin_options const& how = {}) const {
        return pin(reinterpret_cast<std::uintptr_t>(gpu_pointer), bytes, how);
    }
    /// The same, with the address as a number. Contract and errors: barmap_pin_create().
    [[nodiscard]] barmap::pin pin(std::uintptr_t gpu_address, std::size_t bytes,
                                  pin_options const& how = {}) const {
        barmap_pin_options const options = options_of(how);
        return barmap::pin(detail::made<barmap_pin>([&](auto out) {
            return barmap_pin_create(handle_.get(), gpu_address, bytes, &options, out);
        }));
    }

    /// Pins cudaMalloc memory of another process of this machine: pin::gpu_address() is 0.
    ///
    ///     cudaIpcMemHandle_t handle = received_from_the_owner();
    ///     barmap::pin pin = gpu.pin(handle, 0, 4096);
    ///
    /// Contract and errors: barmap_pin_create_ipc().
    [[nodiscard]] barmap::pin pin(ipc_handle const& handle, std::size_t offset, std::size_t bytes,
                                  pin_options const& how = {}) const {
        barmap_pin_options const options = options_of(how);
        return barmap::pin(detail::made<barmap_pin>([&](auto out) {
            return barmap_pin_create_ipc(handle_.get(), handle.bytes.data(), offset, bytes, &options,
                                         out);
        }));
    }

    /// Allocates GPU memory that can be mapped, by the named backend or the first that can. It
    /// lives as long as the pin and its mappings. Contract and errors: barmap_pin_allocate().
    [[nodiscard]] barmap::pin allocate(std::size_t bytes, std::string_view backend = {}) const {
        std::string const by(backend);
        return barmap::pin(detail::made<barmap_pin>([&](auto out) {
            return barmap_pin_allocate(handle_.get(), bytes, by.c_str(), out);
        }));
    }

    /// Allocates host memory that copy engines reach directly.
    /// Contract and errors: barmap_host_buffer_create().
    [[nodiscard]] host_buffer allocate_host(std::size_t bytes) const {
        return host_buffer(detail::made<barmap_host_buffer>(
            [&](auto out) { return barmap_host_buffer_create(handle_.get(), bytes, out); }));
    }

    /// The queue that copies batches of scattered pieces. Keep one: the first handle starts an
    /// engine. Contract and errors: barmap_batch_queue_create().
    [[nodiscard]] barmap::batch_queue batch_queue() const {
        return barmap::batch_queue(detail::made<barmap_batch_queue>(
            [&](auto out) { return barmap_batch_queue_create(handle_.get(), out); }));
    }

    /// CUDA's number of the GPU. Contract and errors: barmap_device_ordinal().
    [[nodiscard]] int ordinal() const noexcept { return barmap_device_ordinal(handle_.get()); }
    /// For example "NVIDIA H200". Contract and errors: barmap_device_name().
    [[nodiscard]] std::string name() const { return barmap_device_name(handle_.get()); }
    /// For example "0000:65:00.0". Contract and errors: barmap_device_pci_address().
    [[nodiscard]] std::string pci_address() const {
        return barmap_device_pci_address(handle_.get());
    }
    /// Of the CUDA API, 13000 for 13.0. Contract and errors: barmap_device_driver_version().
    [[nodiscard]] int driver_version() const noexcept {
        return barmap_device_driver_version(handle_.get());
    }
    /// Whether the GPU is simulated. Contract and errors: barmap_device_simulated().
    [[nodiscard]] bool simulated() const noexcept {
        return barmap_device_simulated(handle_.get()) != 0;
    }
    /// The sizes of the BAR1 aperture; zeros if they are unknown.
    /// Contract and errors: barmap_device_bar1().
    [[nodiscard]] bar1_info bar1() const {
        bar1_info result;
        detail::check(barmap_device_bar1(handle_.get(), &result.total, &result.available));
        return result;
    }

    /// A report for each backend, in order. Starts those that have not been needed so far.
    /// Contract and errors: barmap_device_list_backends().
    [[nodiscard]] std::vector<backend_report> backends() const { return list_backends(1); }

    /// Reports of those that have been started so far. Starts nothing.
    /// Contract and errors: barmap_device_list_backends().
    [[nodiscard]] std::vector<backend_report> started_backends() const {
        return list_backends(0);
    }

    /// A report for each copy engine, in order. Starts those that have not been needed so far.
    /// Contract and errors: barmap_device_list_engines().
    [[nodiscard]] std::vector<engine_report> engines() const { return list_engines(1); }

    /// Reports of those that have been started so far. Starts nothing.
    /// Contract and errors: barmap_device_list_engines().
    [[nodiscard]] std::vector<engine_report> started_engines() const {
        return list_engines(0);
    }

    /// The sizes from which mapping::copy_to_gpu() and copy_to_cpu() use each method, for mappings
    /// of the backend of this name. Contract and errors: barmap_device_list_crossovers().
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
