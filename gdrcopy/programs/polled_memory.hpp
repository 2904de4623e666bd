// SPDX-License-Identifier: MIT
#pragma once

#include "gdrcopy/programs/mapped_range.hpp"
#include "gdrcopy/programs/selected_gpu.hpp"

#include "measure/gpu_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace barmap::tool::gdrcopy {

/// Memory that a running kernel and the CPU share: in GPU memory, where the CPU reaches it through
/// libgdrapi, or in pinned host memory. Zeroed.
class polled_memory {
public:
    struct place {
        selected_gpu const& gpu;
        session const& through;
        std::string const& allocation; ///< cuMemAlloc or cuMemCreate
        int map_flags;
    };

    /// @param location gpumem or hostmem. @throws error, call_failed
    polled_memory(place const& in, std::string const& location, std::size_t bytes);

    [[nodiscard]] CUdeviceptr gpu_address() const noexcept { return address_; }

    /// Copies to the memory: when it returns, all bytes have left the CPU before any later store
    /// does.
    void write(void const* from, std::size_t bytes) const;
    /// Copies what the GPU wrote before the flag that the CPU has seen.
    void read(void* to, std::size_t bytes) const;

    void write_flag(std::uint32_t value) const;
    [[nodiscard]] std::uint32_t read_flag(std::size_t index) const;

    /// Sets flag 0 by the driver, on a stream: also where the mapping is of no use any more.
    void force_flag(std::uint32_t const& value, CUstream stream) const;

private:
    std::optional<gpu_buffer> buffer_;
    std::optional<mapped_range> range_;
    std::optional<pinned_host> host_;
    CUdeviceptr address_ = 0;
};

} // namespace barmap::tool::gdrcopy
