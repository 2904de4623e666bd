// SPDX-License-Identifier: MIT
#pragma once

#include "driver/cuda/gpu.hpp"
#include "driver/cuda/memory.hpp"
#include "transfer/engine/patience.hpp"

#include <barmap/types.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

/// The contract between the core and a copy engine: something of the GPU or its driver that copies
/// between host and GPU memory by itself, while the CPU waits or does other work.
/// Adding one = a directory here, one line in registry.cpp, one line in the engine suite in
/// tests/contract, one section in docs/copy-engine.md. Its errors do not name it: the core does.
namespace barmap::engine {

using cuda::gpu;

enum class direction { to_gpu, to_cpu };

/// One contiguous part of a copy, of 1 to most_piece_bytes, with addresses as the engine knows
/// them.
using piece = copy_piece;
inline constexpr std::size_t most_piece_bytes = std::size_t{1} << 30;

/// Numbers a submission; they grow by one, from 1.
using ticket = std::uint64_t;

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

enum class outcome {
    done,
    late,  ///< the deadline has passed
    failed ///< the engine has stopped: nothing that was submitted after it will be done
};

using deadline = device_clock::time_point;

/// A copy engine of one GPU. Thread rule: start() once; afterwards every member from any thread at
/// once, but close(), which is the last.
class copy_engine {
public:
    virtual ~copy_engine() = default;

    /// Opens what it needs. @throws error errc::backend_absent where this machine does not offer
    /// it; any other error means broken. what() and advice() are what `barmap info` prints.
    virtual void start() = 0;

    /// Lets the engine reach GPU memory of a kind that a backend can register. @throws error
    [[nodiscard]] virtual std::unique_ptr<reachable> reach(cuda::memory const& memory) = 0;

    /// Lets it reach whole pages of this process, which stay where they are until it ends.
    /// @throws error
    [[nodiscard]] virtual std::unique_ptr<reachable> reach(std::span<std::byte> pages) = 0;

    /// Lets it reach host memory that CUDA has allocated or registered, for as long as that is so.
    /// @throws error
    [[nodiscard]] virtual std::unique_ptr<reachable> reach_pinned(std::span<std::byte> memory) = 0;

    /// Begins to copy. All that earlier stores and flush_stores() of this thread sent, to either
    /// side, is seen by the copy. The pieces of one submission are in no order among each other;
    /// submissions are in the order of their tickets. The memory of both sides stays reachable
    /// until the ticket is done.
    /// @throws error where the engine has stopped
    virtual ticket submit(std::span<piece const> pieces) = 0;

    /// Whether all up to this ticket is done: its bytes are where they should be, for every thread
    /// that sees this.
    [[nodiscard]] virtual bool is_done(ticket number) noexcept = 0;

    /// Waits for it, without giving up the CPU.
    [[nodiscard]] virtual outcome wait(ticket number, deadline until) noexcept = 0;

    /// Stops the engine for good, whatever it is doing. May take as long as the driver takes.
    /// @return whether nothing that was submitted is still under way; false if nobody knows
    virtual bool close() noexcept = 0;
};

/// One line of the ordered list.
struct copy_registration {
    std::string_view name;
    std::unique_ptr<copy_engine> (*make)(gpu const& gpu);
};

/// All engines, in the order in which they are preferred.
[[nodiscard]] std::span<copy_registration const> registry() noexcept;

std::unique_ptr<copy_engine> make_channel(gpu const& gpu);
std::unique_ptr<copy_engine> make_driver(gpu const& gpu);

} // namespace barmap::engine
