// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/byte_ring.hpp>

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

namespace barmap::python {

/// A ring that Python holds: byte_ring_to_gpu or byte_ring_to_cpu. Its memory goes with release(),
/// or when the last call that began before has ended. Thread rule: members may be called at once
/// and need the GIL; they take turns. Each of them but release() throws nanobind::python_error
/// after it, and error errc::forked_child in a child.
template <class Ring>
class held_ring {
public:
    /// @throws error as device::open and the ring
    held_ring(std::size_t message_bytes, std::size_t slots, int ordinal);
    ~held_ring();
    held_ring(held_ring const&) = delete;
    held_ring& operator=(held_ring const&) = delete;

    /// Frees the memory, which waits for the GPU. Twice is as once.
    void release() noexcept;
    [[nodiscard]] bool is_released() const noexcept { return !state_; }

    /// Does something with the ring when no other call does.
    /// @param is_long lets other threads run meanwhile
    template <class Action>
    auto in_turn(bool is_long, Action const& action);

    /// Waits for room or for a message, without the GIL, and looks at signals meanwhile.
    /// @param seconds nothing: as long as it takes @return whether there is any
    [[nodiscard]] bool wait(std::optional<double> seconds);

private:
    struct state;
    enum class sight { nothing, found, closed };

    [[nodiscard]] std::shared_ptr<state> usable() const;
    /// Looks for some time, longer than which no other call is held up.
    [[nodiscard]] static sight look(Ring& ring, std::chrono::nanoseconds at_most) noexcept;

    std::shared_ptr<state> state_;
};

/// Adds the classes RingToGpu and RingToCpu.
void bind_rings(nanobind::module_& module);

} // namespace barmap::python
