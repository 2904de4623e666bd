// SPDX-License-Identifier: MIT
#pragma once

#include "bench/gpu_memory.hpp"
#include "bench/usable_engines.hpp"
#include "bench/verify_copies.hpp"

#include <barmap/batch_queue.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

/// Where batches copy from and to, and which pieces of it.
namespace barmap::tool {

/// Bytes that are not what they must be.
struct batch_faults {
    std::uint64_t wrong = 0;  ///< in pieces
    std::uint64_t guards = 0; ///< around and between them, changed
    [[nodiscard]] bool none() const { return wrong == 0 && guards == 0; }
    batch_faults& operator+=(batch_faults const& more) {
        wrong += more.wrong;
        guards += more.guards;
        return *this;
    }
};

/// A source and a destination of so many bytes on either side: GPU memory, and pinned host memory
/// or other GPU memory. A direction of copies is to_cpu where they go to the other side.
/// The sources are random bytes that never change. Needs the GPU's context for as long as it lives.
/// Thread rule: one thread for each direction.
class batch_pools {
public:
    /// @param other the GPU that has the other side; null: that is host memory
    /// @throws error
    batch_pools(std::size_t bytes, std::uint64_t seed, opened_gpu const* other = nullptr);
    [[nodiscard]] std::size_t size() const noexcept { return gpu_bytes_.size(); }

    /// The pieces of a batch, by their places in the source and the destination.
    [[nodiscard]] std::vector<copy_piece> pieces(copy_direction way,
                                                 std::span<place const> places) const;

    /// Fills the first bytes of the destination with guard bytes. @throws error
    void clear(copy_direction way, std::size_t bytes);

    /// What is wrong with the first bytes of the destination if these places, and no others, were
    /// copied since they were cleared. @throws error
    [[nodiscard]] batch_faults compare(copy_direction way, std::vector<place> places,
                                       std::size_t bytes);

private:
    std::vector<std::byte> gpu_bytes_; ///< what the GPU's source has
    touched_host host_source_, host_target_; ///< or what the other GPU's have
    gpu_memory gpu_source_, gpu_target_;
    opened_gpu const* other_;
    gpu_memory other_source_, other_target_; ///< none where host memory is the other side
};

enum class batch_order { contiguous, random };
[[nodiscard]] std::string_view name_of(batch_order order);

/// Chooses pieces of one size out of the pools: disjoint ones at random places that differ on
/// either side, or one after the other from a random place on.
class piece_picker {
public:
    /// @param room of the pools' bytes, these
    /// @pre the room holds as many pieces as are picked at once
    piece_picker(std::size_t size, std::size_t room, batch_order order, std::uint64_t seed);
    [[nodiscard]] std::vector<place> pick(std::size_t count);

    /// Bytes that pieces take with what lies between them.
    [[nodiscard]] static std::size_t stride(std::size_t size, batch_order order);

private:
    std::size_t size_, stride_;
    batch_order order_;
    std::mt19937_64 random_;
    std::vector<std::uint32_t> gpu_slots_, host_slots_;
};

} // namespace barmap::tool
