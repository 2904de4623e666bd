// SPDX-License-Identifier: MIT
#pragma once

#include "fake/rm_objects.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace barmap::fake {
class rm_driver;
}

namespace barmap::fake::rm {

[[nodiscard]] bool all_zero(std::byte const* from, std::size_t bytes);

/// Parameters that a driver copies in and, at the end, out again, at its own size, whatever the
/// caller's: those of a class, or of an ioctl of the unified memory driver.
class copied_parameters {
public:
    /// @param theirs the caller's; may be null
    /// @param given bytes of them by the caller's account; 0: it says none
    copied_parameters(rm_driver& driver, std::string_view structure, void* theirs,
                      std::size_t given = 0);
    copied_parameters(copied_parameters const&) = delete;
    copied_parameters& operator=(copied_parameters const&) = delete;
    ~copied_parameters();

    /// The driver's own copy, with zeros behind it; null if there are none.
    [[nodiscard]] void* get() noexcept { return theirs_ ? own_.data() : nullptr; }

private:
    rm_driver& driver_;
    std::byte* theirs_;
    std::size_t known_; ///< bytes that the driver has of its structure
    std::vector<std::byte> own_;
};

} // namespace barmap::fake::rm
