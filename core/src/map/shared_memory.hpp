// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/gpu.hpp"
#include "map/pages.hpp"
#include "system/fd.hpp"

#include <barmap/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace barmap::backend {

/// The data with which a process maps memory that another one has pinned.
struct shared_memory {
    std::string backend; ///< whose `open` takes it
    memory_kind memory = memory_kind::unknown;
    cache_kind caching = cache_kind::write_combining;
    bool force_pcie = false;
    bool simulated = false;
    cuda::pci_location gpu;
    std::vector<part> parts; ///< in the order of the addresses
    std::vector<os::fd> files;

    static constexpr std::size_t most_parts = 4096;

    [[nodiscard]] std::size_t bytes() const noexcept;

    /// Checks that this number of parts can be packed. @throws error errc::unsupported_operation
    static void expect_few(std::size_t parts, std::size_t most = most_parts);

    /// Checks that an object of that many bytes has a part, and nothing is wanted beyond an end
    /// that it has not reached. @throws error errc::out_of_range
    static void expect_inside(part const& wanted, std::uint64_t size);

    /// The descriptor is none that pack() made. @throws error errc::invalid_argument
    [[noreturn]] static void refuse();

    /// One descriptor that says and holds all of it. @throws error errc::unsupported_operation for
    /// more parts, or more files, than one descriptor can say; what the system reports
    [[nodiscard]] os::fd pack() const;

    /// Reads what pack() of any process has put into a descriptor, which stays the caller's. Every
    /// value is in its range; whether the objects have the parts is for the backend to find out.
    /// @throws error errc::invalid_argument for another descriptor, errc::unsupported_operation for
    /// one of another version, or what the system reports
    [[nodiscard]] static shared_memory unpack(int descriptor);
};

} // namespace barmap::backend
