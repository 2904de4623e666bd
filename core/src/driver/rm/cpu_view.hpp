// SPDX-License-Identifier: MIT
#pragma once

#include "driver/rm/client.hpp"
#include "system/region.hpp"

#include <cstddef>
#include <cstdint>

namespace barmap::rm {

/// A part of an RM object that the CPU has mapped.
class cpu_view {
public:
    cpu_view(client const& owner, abi::handle object, std::uint64_t offset, std::size_t bytes,
             std::uint32_t flags)
        : view_(owner, object, offset, bytes, flags), region_(os::region::for_files(bytes)) {
        region_.place(0, bytes, view_.fd(), 0);
        view_.close_fd();
    }
    [[nodiscard]] std::byte* data() const noexcept { return region_.data(); }

private:
    client::view view_;
    os::region region_; // goes before it
};

} // namespace barmap::rm
