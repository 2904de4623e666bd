// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/batch_queue.hpp>
#include <barmap/host_buffer.hpp>
#include <barmap/pin.hpp>
#include <barmap/report.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace barmap {
struct device_state; ///< inside the library
}

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
class BARMAP_API device {
public:
    device(device const&) noexcept = default;
    device& operator=(device const&) noexcept = default;
    ~device() = default;

    /// How many GPUs CUDA shows to this process; 0 if the driver is missing or cannot be loaded.
    [[nodiscard]] static int count() noexcept;

    /// The CUDA ordinal of the GPU whose context is current in the calling thread; 0 where the thread
    /// has no context, or where there is no driver. Makes no context.
    [[nodiscard]] static int current_ordinal() noexcept;

    /// Opens a GPU by its CUDA ordinal; starts and self-tests the backends that start quickly.
    /// Waits for another thread only if that opens the same GPU.
    ///
    /// BARMAP_SIM=1 loads the simulated GPU instead of the driver. BARMAP_BACKEND=NAME allows one
    /// backend only. BARMAP_REQUIRE=NAME,... requires each of these.
    /// Uses the calling thread's context on that GPU if there is one, else the primary context.
    /// @throws error errc::no_device; errc::backend_absent or errc::backend_broken if a forced or
    ///         required backend is not usable; errc::forked_child in a child of a process that
    ///         opened a GPU, or tried to
    [[nodiscard]] static device open(int ordinal);
    /// Opens the GPU of current_ordinal().
    [[nodiscard]] static device open();

    /// Opens the GPU that owns this address.
    /// @throws error errc::unsupported_memory, errc::invalid_argument (null), or as open()
    [[nodiscard]] static device from_pointer(void const* gpu_pointer);

    /// Opens the GPU that owns the memory in the pages of gpu_page_size bytes that
    /// [gpu_address, gpu_address + bytes) touches.
    /// @throws error as from_pointer(), errc::out_of_range for a page without memory
    [[nodiscard]] static device from_pages(std::uintptr_t gpu_address, std::size_t bytes);

    /// Reports of the backends that start quickly, before their self-test: `usable` means that the
    /// backend can be tried. Takes about a millisecond, needs no CUDA context and makes none: for
    /// programs that only decide whether to use barmap.
    /// @throws error errc::no_device, errc::invalid_argument for an unknown BARMAP_BACKEND, or what
    ///         CUDA reports
    [[nodiscard]] static std::vector<backend_report> probe(int ordinal);

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
                                  pin_options const& how = {}) const;
    [[nodiscard]] barmap::pin pin(std::uintptr_t gpu_address, std::size_t bytes,
                                  pin_options const& how = {}) const;

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
                                  pin_options const& how = {}) const;

    /// Allocates GPU memory that can be mapped. It lives as long as the pin and its
    /// mappings. Every context on this GPU may use gpu_address(); with backend vulkan, only the
    /// context that was current, or the primary one.
    ///
    /// Uses the named backend, or the first usable one, as pin() does.
    /// @throws error errc::invalid_argument for 0 bytes; errc::backend_absent or
    ///         errc::backend_broken (no backend is usable); errc::unsupported_operation (the
    ///         backend does not allocate); errc::forked_child; the driver's out-of-memory
    [[nodiscard]] barmap::pin allocate(std::size_t bytes, std::string_view backend = {}) const;

    /// Allocates host memory that copy engines reach directly.
    /// @throws error errc::invalid_argument for 0 bytes; errc::forked_child; what the system or
    ///         CUDA reports if that much memory cannot be pinned
    [[nodiscard]] host_buffer allocate_host(std::size_t bytes) const;

    /// The queue that copies batches of scattered pieces. Starts an engine, in about 15 ms, unless
    /// another handle of the queue is alive: keep one.
    /// @throws error errc::backend_absent or errc::backend_broken if no engine is usable, or
    ///         BARMAP_ENGINE allows none; errc::forked_child
    [[nodiscard]] barmap::batch_queue batch_queue() const;

    [[nodiscard]] int ordinal() const noexcept;
    [[nodiscard]] std::string const& name() const noexcept;
    [[nodiscard]] std::string const& pci_address() const noexcept; ///< "0000:65:00.0"
    [[nodiscard]] int driver_version() const noexcept; ///< of the CUDA API, 13000 for 13.0
    [[nodiscard]] bool simulated() const noexcept;
    /// Zeros if no usable backend reports the size; BARMAP_LOG=info says why.
    /// @throws error errc::forked_child, errc::checkpointed
    [[nodiscard]] bar1_info bar1() const;

    /// A report for each backend, in order. Starts those that have not been needed so far.
    [[nodiscard]] std::vector<backend_report> backends() const;

    /// Reports of those that have been started so far. Starts nothing.
    [[nodiscard]] std::vector<backend_report> started_backends() const;

    /// A report for each copy engine, in order. Starts those that have not been needed so far.
    [[nodiscard]] std::vector<engine_report> engines() const;

    /// Reports of those that have been started so far. Starts nothing.
    [[nodiscard]] std::vector<engine_report> started_engines() const;

    /// The sizes from which mapping::copy_to_gpu() and copy_to_cpu() use each method, for mappings
    /// of a backend. Starts and measures the engines, unless a copy has done so before.
    /// @param backend its name
    /// @throws error errc::backend_absent or errc::backend_broken if the backend, or the engine
    ///         that BARMAP_ENGINE names, is not usable; errc::invalid_argument
    [[nodiscard]] std::vector<copy_crossover> copy_crossovers(std::string_view backend) const;

private:
    friend class barmap::pin;
    explicit device(std::shared_ptr<device_state> state) noexcept;
    std::shared_ptr<device_state> state_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
