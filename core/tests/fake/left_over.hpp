// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace barmap::fake {

class kernel;

/// What a process holds that a clean-up should bring back to where it was.
struct left_over {
    std::size_t open_files = 0;     ///< /proc/self/fd
    std::size_t gpu_mappings = 0;   ///< lines of /proc/self/maps that show simulated GPU memory
    std::size_t descriptors = 0;    ///< of fake devices
    std::size_t mappings = 0;       ///< made through the library's table of system calls
    std::size_t cuda_objects = 0;   ///< barmap_sim_live()
    std::size_t driver_objects = 0; ///< what the fake drivers hold; filled by the caller

    [[nodiscard]] static left_over now(kernel const& kernel);
    bool operator==(left_over const&) const = default;
};

/// For GoogleTest's messages.
void PrintTo(left_over const& what, std::ostream* out);

} // namespace barmap::fake
