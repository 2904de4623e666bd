// SPDX-License-Identifier: MIT
#pragma once

#include "measure/verify_copies.hpp"

#include <barmap/window.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

/// Copies by an engine, as many and as fast as it goes, every byte of them verified.
namespace barmap::tool {

/// The memory in which only one hammer works.
struct anvil {
    copier copy;               ///< between both sides, by the engine
    std::size_t gpu_bytes;     ///< from the start of its GPU memory
    std::span<std::byte> host; ///< its host memory
};

/// Called with the number of pieces or pairs that are done, now and then.
using hammer_progress = std::function<void(std::uint64_t done)>;

/// Copies pieces of random sizes, offsets and order to the GPU and back, hundreds in one call.
/// It knows the right value of every byte on either side: of the pieces and of the gaps between
/// them. Thread rule: one thread; it needs no CUDA context.
class piece_hammer {
public:
    static constexpr std::size_t longest = std::size_t{16} << 10;
    /// Host memory that is needed for that much GPU memory.
    [[nodiscard]] static constexpr std::size_t host_bytes(std::size_t gpu_bytes) {
        return 3 * gpu_bytes;
    }

    /// @pre at.host.size() >= host_bytes(at.gpu_bytes). @throws error
    piece_hammer(anvil const& at, std::uint64_t seed);

    /// Copies at least that many pieces. @throws error if an engine fails
    void run(std::uint64_t pieces, hammer_progress const& progress);

    [[nodiscard]] std::uint64_t pieces() const noexcept { return pieces_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// Pieces that were found wrong when they were read back, and changed bytes between them.
    [[nodiscard]] std::uint64_t wrong() const noexcept { return wrong_; }

private:
    std::uint64_t next() noexcept;
    std::size_t some_length() noexcept;
    void to_gpu(std::uint64_t round);
    void to_cpu();
    void verify(std::size_t used);

    anvil at_;
    std::size_t source_; ///< in the host memory: the first part is copied to, the rest from
    std::uint64_t random_;
    std::vector<std::byte> gpu_now_, host_now_; ///< what must be there
    std::vector<copy_place> places_;
    std::uint64_t pieces_ = 0, bytes_ = 0, wrong_ = 0;
};

/// The side that writes, and the one that then reads.
enum class pair_order { mapping_then_engine, engine_then_mapping };

/// Writes new values by one of them and reads them by the other, again and again, often at the same
/// place. @return how often what was read was not what had just been written
/// @param through the same GPU memory as the anvil's
/// @pre the host memory has largest_pair bytes, the GPU memory more
/// @throws error if an engine fails
[[nodiscard]] std::uint64_t hammer_pairs(anvil const& at, window through, pair_order order,
                                         std::uint64_t pairs, std::uint64_t seed,
                                         hammer_progress const& progress);
inline constexpr std::size_t largest_pair = 4096;

/// The same copier in several threads, each with a part of the places.
[[nodiscard]] copier at_once(copier one, unsigned threads);

} // namespace barmap::tool
