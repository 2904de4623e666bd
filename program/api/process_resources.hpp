// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace barmap::tool {

/// The resources of the kernel that a process holds.
struct process_resources {
    std::size_t file_descriptors = 0;
    std::size_t mappings = 0;        ///< lines of /proc/self/maps
    std::size_t device_mappings = 0; ///< those of files under /dev and of anonymous files

    [[nodiscard]] static process_resources now();

    /// Whether `later` holds no more. The heap may have grown by a few mappings; a leak in a long
    /// loop grows by many.
    [[nodiscard]] bool leaves_as_much(process_resources const& later) const;
};

} // namespace barmap::tool
