// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/device_block.hpp"
#include "driver/cuda/gpu.hpp"
#include "driver/cuda/memory.hpp"
#include "driver/rm/cuda_memory.hpp"
#include "transfer/engine/stream_order.hpp"

#include <barmap/error.hpp>
#include <barmap/types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The contract between the core and a copy engine: something of the GPU or its driver that copies
/// between host and GPU memory by itself, while the CPU waits or does other work.
/// Its errors do not name it: the core does. How to add one: src/README.md.
namespace barmap::engine {

using cuda::gpu;

/// From host memory, to it, or neither: inside a GPU or between two, in lane cuda alone.
enum class direction { to_gpu, to_cpu, among_gpus };

/// Which addresses an engine copies between.
enum class lane {
    held, ///< its own, of what reach() returned: that memory stays what it was
    cuda  ///< CUDA's own, which need no reach(); the caller of submit() keeps both sides
};

/// One contiguous part of a copy, of 1 to most_piece_bytes, with addresses of the engine's lane.
using piece = copy_piece;
inline constexpr std::size_t most_piece_bytes = std::size_t{1} << 30;

/// Names a submission: above 0 and below 2^number_bits.
using ticket = std::uint64_t;
inline constexpr unsigned number_bits = 48;
/// Of these, the lower ones count the submissions to one of an engine's queues, from 1 on.
inline constexpr unsigned ticket_bits = number_bits - 5;
inline constexpr std::size_t most_queues = std::size_t{1} << (number_bits - ticket_bits);

/// Where a submission is. Of one in parts, the last one counts.
enum class state { done, failed, in_flight, never_given };

/// Memory that an engine reaches. Its destructor ends that; the engine outlives it.
class reachable {
public:
    virtual ~reachable() = default;
    /// A run of it that is contiguous for the engine.
    struct run {
        std::size_t at = 0; ///< offset of its first byte in the memory
        std::size_t bytes = 0;
        std::uint64_t address = 0;
    };
    std::vector<run> runs; ///< in order; what is in none is out of its reach

    /// Whether it is still the memory that it was, for engines that do not hold it.
    [[nodiscard]] virtual bool is_unchanged() const noexcept { return true; }
};

/// Thrown by a submission to an engine that takes no more.
struct has_stopped : error {
    explicit has_stopped(std::string advice)
        : error(errc::backend_broken, "submit a copy to a copy engine", "", std::move(advice)) {}
};

/// A copy engine of one GPU, in one lane. Thread rule: start() once; afterwards every member from
/// any thread at once, but measure(), which comes before the first submission.
class copy_engine {
public:
    virtual ~copy_engine() = default;

    /// Opens what it needs. @throws error errc::backend_absent where this machine does not offer
    /// it; any other error means broken. what() and advice() are what `barmap info` prints.
    virtual void start() = 0;

    /// Lets the engine reach GPU memory of a kind that a backend can register. @throws error
    [[nodiscard]] virtual std::unique_ptr<reachable> reach(cuda::memory const& memory) = 0;

    /// Lets it reach GPU memory that a pin holds, by the resource manager's objects. Null of an
    /// engine that does not know these. @throws error
    [[nodiscard]] virtual std::unique_ptr<reachable>
    reach_held(std::span<rm::held_object const> /*held*/) {
        return nullptr;
    }

    /// Lets it reach whole pages of this process, which stay where they are until it ends.
    /// @throws error
    [[nodiscard]] virtual std::unique_ptr<reachable> reach(std::span<std::byte> pages) = 0;

    /// Lets it reach host memory that CUDA has allocated or registered, for as long as that is so.
    /// @throws error
    [[nodiscard]] virtual std::unique_ptr<reachable> reach_pinned(std::span<std::byte> memory) = 0;

    /// Takes the fastest of several ways to copy, where it has them. @throws error
    virtual void measure(reachable const& /*gpu*/, reachable const& /*host*/) {}

    /// How it copies, for a report's reason. One clause.
    [[nodiscard]] virtual std::string_view form() const noexcept = 0;

    /// Whether the caller of submit() has to refuse pieces in memory that CUDA does not know: this
    /// engine would do harm there.
    [[nodiscard]] virtual bool needs_known_memory() const noexcept { return false; }

    /// Begins to copy. All that earlier stores and flush_stores() of this thread sent, to either
    /// side, is seen by the copy. The pieces of one submission are in no order among each other.
    /// In lane held, submissions are in the order of their tickets. In lane cuda, one that waits,
    /// for its stream or for room, holds up none of other streams and none of the other direction,
    /// as long as no more streams are waited for than the engine has queues for.
    /// @param way by which a queue is chosen; the pieces may go any way
    /// @param pieces none: only the order is kept
    /// @param bytes of all pieces
    /// @param order of streams, in lane cuda
    /// @throws has_stopped, error, std::bad_alloc; then nothing of it is in flight, but for
    ///         errc::copy_unfinished
    virtual ticket submit(direction way, std::span<piece const> pieces, std::size_t bytes,
                          stream_order const& order) = 0;

    /// Where a submission is. Of one that is done, this thread sees the bytes. Makes no system call
    /// and takes no lock.
    [[nodiscard]] virtual state poll(ticket number) noexcept = 0;

    /// Whether nothing that was submitted in lane cuda is in flight. Thread rule: while nothing is
    /// submitted, one caller at a time.
    [[nodiscard]] virtual bool is_idle() noexcept { return true; }

    /// Whether it belongs to a CUDA that has been restored from a checkpoint since. Where it does
    /// not, it does not call CUDA, in which another thread may wait for a submission.
    /// @pre it has started
    [[nodiscard]] virtual bool is_of_former_cuda() { return false; }

    /// Whether it takes no submissions any more.
    [[nodiscard]] virtual bool has_stopped() const noexcept = 0;

    /// Why, once it has. One clause.
    [[nodiscard]] virtual std::string why_it_stopped() = 0;

    /// Stops the engine for good, whatever it is doing. May take as long as the driver takes.
    /// poll() may be called afterwards.
    /// @return whether nothing that was submitted is still in flight; false if nobody knows
    virtual bool close() noexcept = 0;
};

/// One line of the ordered list.
struct copy_registration {
    std::string_view name;
    std::unique_ptr<copy_engine> (*make)(gpu const& gpu, lane which);
};

/// All engines, in the order in which they are preferred.
[[nodiscard]] std::span<copy_registration const> registry() noexcept;

std::unique_ptr<copy_engine> make_channel_held(gpu const& gpu);
/// @param addresses of what its channels read beside the copies; by default as the GPU needs it
std::unique_ptr<copy_engine>
make_channel_cuda(gpu const& gpu, std::optional<cuda::block_addresses> addresses = {});
std::unique_ptr<copy_engine> make_driver(gpu const& gpu, lane which);

} // namespace barmap::engine
