// SPDX-License-Identifier: MIT
#pragma once

#include "held.hpp"

#include <barmap/byte_ring.hpp>

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstddef>
#include <optional>

namespace barmap::python {

/// A ring that Python holds: detail::byte_ring_to_gpu or detail::byte_ring_to_cpu.
template <class Ring>
class held_ring : public held<Ring> {
public:
    /// @throws error as device::open and the ring
    held_ring(std::size_t message_bytes, std::size_t slots, int ordinal);
    /// One that another process has shared. @throws error as Ring::open_shared, or for another size
    held_ring(std::size_t message_bytes, int descriptor);

    /// Waits for room or for a message, without the GIL, and looks at signals meanwhile.
    /// @param seconds nothing: as long as it takes @return whether there is any
    [[nodiscard]] bool wait(std::optional<double> seconds);

private:
    [[nodiscard]] static typename held<Ring>::opener opener_of(std::size_t message_bytes);
    /// Looks for some time, longer than which no other call is held up.
    [[nodiscard]] static sight look(Ring& ring, std::chrono::nanoseconds at_most) noexcept;
};

/// Adds the classes RingToGpu and RingToCpu.
void bind_rings(nanobind::module_& module);

} // namespace barmap::python
