// SPDX-License-Identifier: MIT
/// The inputs and results of a program's steps, such as those of a language model's decode loop,
/// with the rules of <barmap/step_tensors.h>.
#pragma once

#include <barmap/device.hpp>
#include <barmap/handle.hpp>
#include <barmap/step_tensors.h>
#include <barmap/waits.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// A contiguous tensor in GPU memory that a step reads or writes.
struct step_tensor {
    std::uintptr_t gpu_address = 0;
    std::size_t bytes = 0;
};

namespace detail {

// The structures are those of C.
static_assert(sizeof(step_tensor) == sizeof(barmap_step_tensor) &&
              offsetof(step_tensor, gpu_address) == offsetof(barmap_step_tensor, gpu_address) &&
              offsetof(step_tensor, bytes) == offsetof(barmap_step_tensor, bytes));
inline barmap_step_tensor const* of_c(std::span<step_tensor const> tensors) noexcept {
    return reinterpret_cast<barmap_step_tensor const*>(tensors.data());
}

} // namespace detail

/// Tensors that the CPU fills for each step.
///
///     barmap::step_inputs inputs(gpu, tensors);           // where the model's kernels read them
///     inputs.enqueue_load(stream);                        // before them; once, if captured
///     ...
///     std::memcpy(inputs.staging(0).data(), positions, sizeof positions);
///     if (inputs.try_push())                              // then launch the step, or before
///         cudaGraphLaunch(graph, stream);
///
/// A push stores its bytes in a slot of GPU memory, and a load, which enqueue_load() gives to a
/// stream, copies them from there into the tensors, so that no step reads the inputs of a later
/// one. <barmap/step_tensors.h> says how loads and pushes pair up, and how long a load waits.
///
/// Not movable. After fork() the child may only destroy it. Destroy it when no stream and no graph
/// uses it any more.
/// Thread rule: one thread at a time fills and pushes.
class step_inputs {
public:
    /// Prepares tensors, of which that many versions may be pushed before the first is loaded.
    /// Contract and errors: barmap_step_inputs_create().
    step_inputs(device const& gpu, std::span<step_tensor const> tensors, std::size_t versions = 4)
        : handle_(detail::made<barmap_step_inputs>([&](auto out) {
              return barmap_step_inputs_create(gpu.c_handle(), detail::of_c(tensors),
                                               tensors.size(), versions, out);
          })) {}
    step_inputs(step_inputs const&) = delete;
    step_inputs& operator=(step_inputs const&) = delete;

    /// Bytes to fill for the next step, as many as the tensor has.
    /// Contract and errors: barmap_step_inputs_staging().
    [[nodiscard]] std::span<std::byte> staging(std::size_t tensor) const noexcept {
        return {static_cast<std::byte*>(barmap_step_inputs_staging(handle_.get(), tensor)),
                barmap_step_inputs_bytes(handle_.get(), tensor)};
    }
    /// Publishes the staging bytes of all tensors, at once; false if no version is free.
    /// Contract and errors: barmap_step_inputs_push().
    [[nodiscard]] bool try_push() noexcept { return barmap_step_inputs_push(handle_.get()) != 0; }
    /// Waits for a free version; false if none was freed in time.
    /// Contract and errors: barmap_step_inputs_wait().
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) noexcept {
        return barmap_step_inputs_wait(handle_.get(), detail::ns_of_wait(at_most)) != 0;
    }

    /// Makes a stream copy the next push into the tensors, before its later work.
    /// Contract and errors: barmap_step_inputs_enqueue_load().
    void enqueue_load(void* stream) const {
        detail::check(barmap_step_inputs_enqueue_load(handle_.get(), stream));
    }

    /// Whether a load has given up waiting. Contract and errors: barmap_step_inputs_failed().
    [[nodiscard]] bool failed() const noexcept {
        return barmap_step_inputs_failed(handle_.get()) != 0;
    }

private:
    detail::owned<barmap_step_inputs, barmap_step_inputs_destroy> handle_;
};

/// Tensors whose contents the CPU gets after each step: the tokens that a sampler has chosen.
///
///     barmap::step_outputs tokens(gpu, tensors);
///     tokens.enqueue_store(stream);                       // after the sampler; once, if captured
///     ...
///     if (tokens.wait_for(std::chrono::milliseconds(50)) && tokens.try_pop())
///         use(tokens.staging(0));
///
/// The rest is as with step_inputs.
class step_outputs {
public:
    /// Prepares tensors, of which that many versions may be stored before the first is popped.
    /// Contract and errors: barmap_step_outputs_create().
    step_outputs(device const& gpu, std::span<step_tensor const> tensors, std::size_t versions = 64)
        : handle_(detail::made<barmap_step_outputs>([&](auto out) {
              return barmap_step_outputs_create(gpu.c_handle(), detail::of_c(tensors),
                                                tensors.size(), versions, out);
          })) {}
    step_outputs(step_outputs const&) = delete;
    step_outputs& operator=(step_outputs const&) = delete;

    /// Makes a stream publish the contents of the tensors, after its earlier work.
    /// Contract and errors: barmap_step_outputs_enqueue_store().
    void enqueue_store(void* stream) const {
        detail::check(barmap_step_outputs_enqueue_store(handle_.get(), stream));
    }

    /// Copies the results of the oldest step to the staging bytes; false if there are none.
    /// Contract and errors: barmap_step_outputs_pop().
    [[nodiscard]] bool try_pop() noexcept { return barmap_step_outputs_pop(handle_.get()) != 0; }
    /// Waits for results; false if none have come. Contract and errors: barmap_step_outputs_wait().
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds at_most) const noexcept {
        return barmap_step_outputs_wait(handle_.get(), detail::ns_of_wait(at_most)) != 0;
    }
    /// The results that were popped last. Contract and errors: barmap_step_outputs_staging().
    [[nodiscard]] std::span<std::byte const> staging(std::size_t tensor) const noexcept {
        return {static_cast<std::byte const*>(barmap_step_outputs_staging(handle_.get(), tensor)),
                barmap_step_outputs_bytes(handle_.get(), tensor)};
    }

    /// Whether a store has given up waiting for room.
    /// Contract and errors: barmap_step_outputs_failed().
    [[nodiscard]] bool failed() const noexcept {
        return barmap_step_outputs_failed(handle_.get()) != 0;
    }

private:
    detail::owned<barmap_step_outputs, barmap_step_outputs_destroy> handle_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
