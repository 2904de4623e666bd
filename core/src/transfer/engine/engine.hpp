// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/device_block.hpp"
#include "cuda/gpu.hpp"
#include "cuda/memory.hpp"
#include "driver/rm/cuda_memory.hpp"
#include "transfer/engine/stream_order.hpp"
#include "transfer/engine/submission.hpp"

#include <barmap/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The contract between the core and a copy engine: a part of the GPU or its driver that copies
/// between host and GPU memory while the CPU waits or does other work.
/// The core adds the engine's name to its errors. How to add an engine: core/README.md.
namespace barmap::engine {

/// The advice where CUDA registers no host memory: engines in CUDA's address space need it.
inline constexpr char without_registration[] = "this engine cannot be used on it";

using cuda::gpu;

/// From host memory, to it, or neither: inside a GPU or between two, which only lane cuda supports.
enum class direction { to_gpu, to_cpu, among_gpus };

/// Which addresses an engine copies between.
enum class lane {
    held, ///< its own, from reach(); the memory there stays the same
    cuda  ///< CUDA's, without reach(): the caller of submit() keeps both sides allocated
};

/// Memory that an engine can copy to and from, until the destructor. The engine outlives it.
class reachable {
public:
    virtual ~reachable() = default;
    /// A part that is contiguous for the engine.
    struct run {
        std::size_t at = 0; ///< offset of its first byte in the memory
        std::size_t bytes = 0;
        std::uint64_t address = 0;
    };
    std::vector<run> runs; ///< in order; the engine does not reach bytes outside them

    /// Whether the addresses still belong to the same allocation, for memory that reach() returned
    /// from an engine that does not hold it.
    [[nodiscard]] virtual bool is_unchanged() const noexcept { return true; }
};

/// A submission throws this if the engine takes no more.
struct has_stopped : error {
    explicit has_stopped(std::string advice)
        : error(errc::backend_broken, "submit a copy to a copy engine", "", std::move(advice)) {}
};

/// A copy engine of one GPU, in one lane. Thread rule: call start() once, and measure() before the
/// first submission; afterwards threads may call every other member concurrently.
class copy_engine {
public:
    virtual ~copy_engine() = default;

    /// Opens the engine. @throws error errc::backend_absent if this machine lacks it; any other
    /// error means that it is broken. `barmap info` prints what() and advice().
    virtual void start() = 0;

    /// Makes GPU memory of a kind that a backend can register reachable while it stays allocated.
    /// @throws error
    [[nodiscard]] virtual std::unique_ptr<reachable> reach(cuda::memory const& memory) = 0;

    /// Makes the memory that is at these addresses now reachable, also after the program frees it.
    /// @return null from an engine that cannot hold such memory. @throws error
    [[nodiscard]] virtual std::unique_ptr<reachable> hold(cuda::memory const& /*memory*/) {
        return nullptr;
    }

    /// Makes GPU memory that a pin holds reachable through the resource manager's objects.
    /// @return null from an engine that does not support these. @throws error
    [[nodiscard]] virtual std::unique_ptr<reachable>
    reach_held(std::span<rm::held_object const> /*held*/) {
        return nullptr;
    }

    /// Makes whole pages of this process reachable, and pins them while the result lives.
    /// @throws error
    [[nodiscard]] virtual std::unique_ptr<reachable> reach(std::span<std::byte> pages) = 0;

    /// Makes host memory that CUDA has allocated or registered reachable, until CUDA frees or
    /// unregisters it.
    /// @throws error
    [[nodiscard]] virtual std::unique_ptr<reachable> reach_pinned(std::span<std::byte> memory) = 0;

    /// Selects the fastest of the engine's methods, if it has several. @throws error
    virtual void measure(reachable const& /*gpu*/, reachable const& /*host*/) {}

    /// How it copies: one clause for a report's reason.
    [[nodiscard]] virtual std::string_view form() const noexcept = 0;

    /// Opens the queues of lane cuda that submissions with `after` may take, so that none opens one
    /// itself. A queue that cannot be opened is left out.
    virtual void open_queues() {}

    /// Whether the caller of submit() must refuse pieces in memory that CUDA does not know, because
    /// the engine would do harm there.
    [[nodiscard]] virtual bool needs_known_memory() const noexcept { return false; }

    /// Starts a copy, which sees all earlier stores and flush_stores() of this thread, to either
    /// side. The pieces of one submission have no order. In lane held, submissions run in ticket
    /// order. In lane cuda, a submission that waits for its stream or for room delays no submission
    /// of another stream or of the other direction, unless more streams wait than the engine has
    /// queues.
    /// @param way chooses the queue; the pieces may have any direction
    /// @param pieces if there are none, the submission only orders streams
    /// @param bytes sum over all pieces
    /// @param order of streams, in lane cuda
    /// @throws has_stopped, error, std::bad_alloc; then no piece is in flight, except after
    ///         errc::copy_unfinished
    virtual ticket submit(direction way, std::span<copy_piece const> pieces, std::size_t bytes,
                          stream_order const& order) = 0;

    /// The state of a submission. If it is done, this thread sees the bytes. Makes no system call
    /// and takes no lock.
    [[nodiscard]] virtual state poll(ticket number) noexcept = 0;

    /// Whether no submission of lane cuda is in flight. Thread rule: one caller at a time, while no
    /// thread submits.
    [[nodiscard]] virtual bool is_idle() noexcept { return true; }

    /// Whether CUDA was restored from a checkpoint after the engine's start. If not, this makes no
    /// CUDA call, since another thread may wait in CUDA for a submission.
    /// @pre the engine has started
    [[nodiscard]] virtual bool is_of_former_cuda() { return false; }

    /// Whether it refuses submissions for good.
    [[nodiscard]] virtual bool has_stopped() const noexcept = 0;

    /// Why it has stopped: one clause.
    [[nodiscard]] virtual std::string why_it_stopped() = 0;

    /// Stops the engine for good, even during a copy. May take as long as the driver takes. poll()
    /// still works afterwards.
    /// @return whether no submission is in flight any more; false if that is unknown
    virtual bool close() noexcept = 0;
};

/// One entry of the registry.
struct copy_registration {
    std::string_view name;
    std::unique_ptr<copy_engine> (*make)(gpu const& gpu, lane which);
};

/// All engines, the preferred ones first.
[[nodiscard]] std::span<copy_registration const> registry() noexcept;

std::unique_ptr<copy_engine> make_channel_held(gpu const& gpu);
/// @param addresses for memory that the channels themselves read; by default as the GPU requires
std::unique_ptr<copy_engine> make_channel_cuda(gpu const& gpu,
                                               std::optional<cuda::block_addresses> addresses = {});
std::unique_ptr<copy_engine> make_driver(gpu const& gpu, lane which);

} // namespace barmap::engine
