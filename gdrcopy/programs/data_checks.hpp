// SPDX-License-Identifier: MIT
#pragma once

#include "gdrcopy/programs/mapped_range.hpp"
#include "gdrcopy/programs/selected_gpu.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace barmap::tool::gdrcopy {

/// Moves bytes through a mapping and compares what arrives. The mapping must be of the whole
/// buffer. Each check first fills the buffer with another value by the driver, and gives nothing if
/// all is right, else what is wrong.
class data_checks {
public:
    data_checks(gpu_buffer const& buffer, mapped_range const& range);

    /// The CPU stores, the driver reads.
    [[nodiscard]] std::optional<std::string> direct_stores(std::uint64_t seed);
    /// gdr_copy_to_mapping writes, the driver reads.
    [[nodiscard]] std::optional<std::string> copy_to_mapping(std::uint64_t seed);
    /// gdr_copy_to_mapping writes, gdr_copy_from_mapping reads; up to the buffer's end, from these
    /// offsets in the mapping and in the host's memory. The driver sees whether any byte beside
    /// them has changed.
    [[nodiscard]] std::optional<std::string> round_trip(std::size_t map_at, std::size_t host_at,
                                                        std::uint64_t seed);

private:
    void prepare(std::uint64_t seed);
    [[nodiscard]] std::optional<std::string> by_driver(std::size_t map_at, std::size_t host_at);

    gpu_buffer const& buffer_;
    mapped_range const& range_;
    std::vector<std::byte> source_, target_;
};

} // namespace barmap::tool::gdrcopy
