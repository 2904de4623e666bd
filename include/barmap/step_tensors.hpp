// SPDX-License-Identifier: MIT
/// The inputs and results of a program's steps, such as those of a language model's decode loop: many
/// small tensors go to the GPU at once, with no call of the driver, and results come back without a
/// synchronisation. The kernels and graphs that use them need no change.
#pragma once

#include <barmap/arena.hpp>
#include <barmap/byte_ring.hpp>
#include <barmap/device.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace barmap {
struct step_state; ///< inside the library
}

namespace barmap::inline BARMAP_INLINE_NAMESPACE {

/// A contiguous tensor in GPU memory that a step reads or writes.
struct step_tensor {
    std::uintptr_t gpu_address = 0;
    std::size_t bytes = 0;
};

/// Tensors that the CPU fills for each step.
///
///     barmap::step_inputs inputs(gpu, tensors);           // where the model's kernels read them
///     inputs.load(stream);                                // before those; once, if captured
///     ...
///     std::memcpy(inputs.staging(0).data(), positions, sizeof positions);
///     if (inputs.try_push())                              // then launch the step, or before
///         cudaGraphLaunch(graph, stream);
///
/// What is pushed lies in a slot of GPU memory until a load() has laid it into the tensors, so that
/// no step reads what is meant for a later one. Loads and pushes pair up in order. A load waits on
/// the GPU for its push, for 10 seconds; if none comes, the tensors stay as they were, later work
/// goes on, and failed() says so.
///
/// One thread at a time fills and pushes. After fork() the child may only destroy it. Not movable.
/// Destroy it when no stream and no graph uses it any more.
class BARMAP_API step_inputs {
public:
    /// @param tensors memory of this GPU, 1 MiB in all at most; stays the caller's
    /// @param versions how many steps may be pushed before the first is loaded, a power of two
    /// @throws error errc::invalid_argument, also for memory that is not of this GPU;
    ///         errc::out_of_range for a tensor that leaves its allocation; or as device::allocate()
    ///         and the arena
    step_inputs(device const& gpu, std::span<step_tensor const> tensors, std::size_t versions = 4);
    step_inputs(step_inputs const&) = delete;
    step_inputs& operator=(step_inputs const&) = delete;
    ~step_inputs();

    /// Bytes to fill for the next step, aligned to 8. They keep what was pushed last.
    [[nodiscard]] std::span<std::byte> staging(std::size_t tensor) const noexcept;
    /// Publishes what the staging bytes of all tensors hold, at once.
    /// @return whether there was a free version
    [[nodiscard]] bool try_push() noexcept;
    /// Waits for a free version. @return whether there is one
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) noexcept;

    /// Has a stream lay the next push into the tensors, by a kernel of one block, before what it is
    /// given later. Each replay of a graph that has captured this does so again.
    /// @param stream of the context of this GPU that was current when this was made, or else of the
    ///        primary one; null: its default stream
    /// @throws error what CUDA reports
    void load(void* stream) const;

    /// Whether a load has given up waiting. Pushes and loads may not pair up any more: make a new one.
    [[nodiscard]] bool failed() const noexcept;

private:
    std::unique_ptr<step_state> state_;
};

/// Tensors whose contents the CPU gets after each step: the tokens that a sampler has chosen.
///
///     barmap::step_outputs tokens(gpu, tensors);
///     tokens.store(stream);                               // after the sampler; once, if captured
///     ...
///     if (tokens.wait_for(std::chrono::milliseconds(50)) && tokens.try_pop())
///         use(tokens.staging(0));
///
/// The rest is as with step_inputs. A store waits on the GPU for room, for 10 seconds.
class BARMAP_API step_outputs {
public:
    /// As that of step_inputs.
    /// @param versions how many steps may be stored before the first is popped, a power of two
    step_outputs(device const& gpu, std::span<step_tensor const> tensors, std::size_t versions = 64);
    step_outputs(step_outputs const&) = delete;
    step_outputs& operator=(step_outputs const&) = delete;
    ~step_outputs();

    /// Has a stream publish what the tensors hold, by a kernel of one block, after what it was
    /// given before. @throws error as step_inputs::load()
    void store(void* stream) const;

    /// Gets the results of the oldest step that has not been popped. @return whether there is one
    [[nodiscard]] bool try_pop() noexcept;
    /// Waits for results. @return whether there are any
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) const noexcept;
    /// What was popped last, aligned to 8.
    [[nodiscard]] std::span<std::byte const> staging(std::size_t tensor) const noexcept;

    /// Whether a store has given up waiting for room: the results of a step are lost.
    [[nodiscard]] bool failed() const noexcept;

private:
    std::unique_ptr<step_state> state_;
};

} // namespace barmap::inline BARMAP_INLINE_NAMESPACE
