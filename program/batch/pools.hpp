// SPDX-License-Identifier: MIT
#pragma once

#include "measure/gpu_memory.hpp"
#include "measure/usable_engines.hpp"
#include "measure/verify_copies.hpp"

#include <barmap/batch_queue.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

/// The memory that batches copy from and to, and their pieces.
namespace barmap::tool {

/// Counts of faulty bytes.
struct batch_faults {
    std::uint64_t wrong = 0;  ///< in pieces
    std::uint64_t guards = 0; ///< changed ones around and between the pieces
    [[nodiscard]] bool none() const { return wrong == 0 && guards == 0; }
    batch_faults& operator+=(batch_faults const& more) {
        wrong += more.wrong;
        guards += more.guards;
        return *this;
    }
};

/// A source and a destination of equal size on either side: one side is GPU memory, the other side
/// pinned host memory or other GPU memory. Copies to the other side have the direction to_cpu. The
/// sources are random bytes that never change. Needs the GPU's context while it lives.
/// Thread rule: one thread for each direction.
class batch_pools {
public:
    /// @param other the GPU of the other side; null: host memory
    /// @throws error
    batch_pools(std::size_t bytes, std::uint64_t seed, opened_gpu const* other = nullptr);
    [[nodiscard]] std::size_t size() const noexcept { return gpu_bytes_.size(); }

    /// The pieces of a batch, by their places in the source and the destination.
    [[nodiscard]] std::vector<copy_piece> pieces(copy_direction way,
                                                 std::span<copy_place const> places) const;

    /// Fills the first bytes of the destination with guard bytes. @throws error
    void clear(copy_direction way, std::size_t bytes);

    /// The faults in the first bytes of the destination, if a batch copied these places and no
    /// others since clear(). @throws error
    [[nodiscard]] batch_faults compare(copy_direction way, std::vector<copy_place> places,
                                       std::size_t bytes);

private:
    std::vector<std::byte> gpu_bytes_;       ///< a copy of the GPU's source
    touched_host host_source_, host_target_; ///< or copies of the other GPU's
    gpu_memory gpu_source_, gpu_target_;
    opened_gpu const* other_;
    gpu_memory other_source_, other_target_; ///< empty if the other side is host memory
};

enum class batch_order { contiguous, random };
[[nodiscard]] std::string_view name_of(batch_order order);

/// Chooses pieces of one size in the pools: disjoint ones at random places, different on either
/// side, or contiguous ones from a random place on.
class piece_picker {
public:
    /// @param room how many of the pools' first bytes to use
    /// @pre the room holds the pieces of every pick()
    piece_picker(std::size_t size, std::size_t room, batch_order order, std::uint64_t seed);
    [[nodiscard]] std::vector<copy_place> pick(std::size_t count);

    /// Bytes from one possible start of a piece to the next.
    [[nodiscard]] static std::size_t stride(std::size_t size, batch_order order);

private:
    std::size_t size_, stride_;
    batch_order order_;
    std::mt19937_64 random_;
    std::vector<std::uint32_t> gpu_slots_, host_slots_;
};

} // namespace barmap::tool
