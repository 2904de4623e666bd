// SPDX-License-Identifier: MIT
#pragma once

#include "system/fd.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace barmap::os {

/// Bytes and open files behind one descriptor. Each process that holds the descriptor can read the
/// parcel, any number of times; the files stay open as long as a descriptor of it does.
struct parcel {
    std::vector<std::byte> bytes;
    std::vector<fd> files;

    static constexpr std::size_t most_bytes = std::size_t{100} << 10; ///< Linux allows 200 KiB
    static constexpr std::size_t most_files = 253;                    ///< Linux's SCM_MAX_FD

    /// @return close-on-exec. @pre 1 to most_bytes bytes, up to most_files files
    /// @throws error with errno
    [[nodiscard]] static fd pack(std::span<std::byte const> bytes, std::span<fd const> files);

    /// Waits for no message. @throws error errc::invalid_argument for a descriptor that is no parcel, or
    /// what the system reports
    [[nodiscard]] static parcel look_into(int descriptor);
};

} // namespace barmap::os
