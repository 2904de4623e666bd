// SPDX-License-Identifier: MIT
#pragma once

#include "measure/cuda_stream.hpp"

#include "cuda/driver_api.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>

/// The GPU's side of the measurements: small kernels, embedded as PTX, so that building needs
/// no CUDA toolkit. The simulated GPU has kernels of the same names and meaning.
namespace barmap::tool {

/// The kernels, loaded into the context that is current. @throws error
class gpu_kernels {
public:
    gpu_kernels();                           ///< those of gpu_kernels.ptx
    explicit gpu_kernels(char const* image); ///< those of this PTX; null where the build has none
    gpu_kernels(gpu_kernels const&) = delete;
    gpu_kernels& operator=(gpu_kernels const&) = delete;
    ~gpu_kernels();
    [[nodiscard]] CUfunction named(char const* name) const; ///< @throws error

private:
    CUmodule module_ = nullptr;
};

/// The address of a value, which has exactly the type that the kernel declares and lives until the
/// launch has returned.
struct kernel_parameter {
    template <class Value>
    kernel_parameter(Value const& value) noexcept : address(&value) {}
    void const* address;
};

/// Up to 8, in the kernel's order.
class kernel_parameters {
public:
    kernel_parameters(std::initializer_list<kernel_parameter> all) { add(all); }
    void add(std::initializer_list<kernel_parameter> more) {
        for (kernel_parameter const& each : more)
            addresses_.at(count_++) = const_cast<void*>(each.address);
    }
    [[nodiscard]] void** addresses() noexcept { return addresses_.data(); }

private:
    std::array<void*, 8> addresses_{};
    std::size_t count_ = 0;
};

/// Starts that many blocks of threads; the parameters are copied before it returns. @throws error
void launch(CUfunction function, unsigned blocks, unsigned threads, CUstream stream,
            kernel_parameters parameters);

/// Pinned host memory that the GPU reaches as well. Zeroed.
class pinned_host {
public:
    explicit pinned_host(std::size_t bytes); ///< @throws error
    pinned_host(pinned_host const&) = delete;
    pinned_host& operator=(pinned_host const&) = delete;
    ~pinned_host();
    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::uint64_t volatile* word() const noexcept {
        return reinterpret_cast<std::uint64_t volatile*>(data_);
    }
    [[nodiscard]] CUdeviceptr gpu_address() const noexcept { return address_; }

private:
    std::byte* data_ = nullptr;
    CUdeviceptr address_ = 0;
};

/// A kernel that runs by itself while the CPU works with it.
class running_kernel {
public:
    /// Launches that many blocks of threads on a separate stream, for which no other work waits.
    /// @param stop what makes the kernel end early; called by the destructor if it still runs
    /// @throws error
    running_kernel(CUfunction function, unsigned blocks, unsigned threads,
                   std::function<void(CUstream)> stop, kernel_parameters const& parameters);
    running_kernel(running_kernel const&) = delete;
    running_kernel& operator=(running_kernel const&) = delete;

    /// Ends the kernel. One that does not end in time would make every later driver call hang, so
    /// then the process exits with exit_timed_out.
    ~running_kernel();

    [[nodiscard]] bool finished() const; ///< @throws error if the kernel failed
    /// @throws gpu_timeout
    void wait(double limit_s) const;

private:
    cuda_stream stream_;
    cuda_stream control_; ///< for what the stop needs to copy
    std::function<void(CUstream)> stop_;
};

/// Runs barmap_fill: byte k of the buffer becomes (k*131 + seed*29 + (k>>8)) & 0xff.
/// @throws error
void fill_by_kernel(gpu_kernels const& kernels, CUdeviceptr address, std::size_t bytes,
                    std::uint64_t seed);
[[nodiscard]] constexpr std::byte filled_byte(std::uint64_t k, std::uint64_t seed) {
    return static_cast<std::byte>((k * 131 + seed * 29 + (k >> 8)) & 0xff);
}

/// A doorbell of this value ends barmap_pingpong.
inline constexpr std::uint64_t doorbell_stop = std::uint64_t{1} << 63;

/// A flag with this bit ends barmap_consume and barmap_produce; in an answer of barmap_consume it
/// shows that the data were not those of the round.
inline constexpr std::uint32_t flag_stop = std::uint32_t{1} << 31;

} // namespace barmap::tool
