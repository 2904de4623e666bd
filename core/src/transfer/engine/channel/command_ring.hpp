// SPDX-License-Identifier: MIT
#pragma once

#include "base/policy.hpp"
#include "transfer/engine/channel/host_order.hpp"
#include "transfer/engine/submission.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace barmap::engine {

/// A semaphore acquire: the channel waits until the word at this GPU address has this value. It
/// does not wait if the address is 0.
struct semaphore_word {
    std::uint64_t address = 0;
    std::uint32_t value = 0;
    std::uint32_t const* on_cpu = nullptr; ///< the same word at its CPU address
};

/// Writes commands to a channel: the methods of copies, the GPFIFO entries that point to them, and
/// the doorbell. Methods and entries lie in one block of GPU memory that the CPU has mapped: each
/// of these parts in host memory would cost 0.7 us a copy (H200).
/// Thread rule: one caller at a time, except for progress() and next().
class command_ring {
public:
    static constexpr std::size_t block_bytes = std::size_t{2} << 20;
    static constexpr std::uint32_t gpfifo_entries = 1024;
    static constexpr std::size_t userd_at = 0x10000;
    static constexpr std::size_t most_pieces = 4096; ///< of one ticket
    static constexpr std::size_t most_tickets = 256; ///< one more than may be in flight
    /// Room in the block for data of the ring's user.
    static constexpr std::size_t spare_at = 0x17000, spare_bytes = 0x9000;

    struct places {
        std::byte* block;           ///< as the CPU sees it, write-combining
        std::uint64_t block_on_gpu; ///< as the channel sees it
        std::uint32_t* doorbell;
        std::uint32_t token;
        std::uint32_t const* semaphore; ///< in host memory, 0 at the start
        std::uint64_t semaphore_on_gpu;
        std::uint32_t copy_class;
        /// Where the channel writes the lower half of a ticket whose wait is over; 0: nowhere.
        std::uint64_t begun_on_gpu = 0;
        ticket last = 0; ///< the first ticket follows it; the semaphore holds its lower half
    };

    explicit command_ring(places const& where) noexcept;

    /// Whether there is room for that many pieces in that many tickets; progress() frees room.
    [[nodiscard]] bool has_room(std::size_t pieces, std::size_t tickets = 1) const noexcept;

    /// The ticket of the next submission. Any thread; it sees stores before earlier submissions.
    [[nodiscard]] ticket next() const noexcept { return last_.load(std::memory_order_acquire) + 1; }

    /// Starts copies. @pre has_room(pieces.size()), up to most_pieces pieces of up to
    /// most_piece_bytes
    /// @param host the member to sort pieces by, if that is faster; null: keeps their order
    ticket submit(std::span<copy_piece const> pieces, semaphore_word const& begin = {},
                  host_side host = nullptr) noexcept;

    /// The last ticket that is done. The caller sees its copies. Any thread.
    [[nodiscard]] ticket progress() const noexcept;

    /// How many entries of the GPFIFO it has written.
    [[nodiscard]] std::uint64_t entries() const noexcept { return used_.entries; }

    static constexpr std::size_t words_at = 0x20000; ///< after the GPFIFO and USERD

private:
    static constexpr std::size_t ring_words = (block_bytes - words_at) / sizeof(std::uint32_t);
    static constexpr std::size_t words_of_piece = 8, words_of_ticket = 16;
    static constexpr std::size_t line_words = 16; ///< a chunk starts on a line of 64 bytes
    // Chunks let the engine start while the CPU still writes: 6 to 20 % for long lists (H200).
    static constexpr std::size_t first_chunk = policy::first_segment,
                                 next_chunk = policy::next_segment;
    static_assert(most_pieces <= host_order::most_pieces);

    /// How much of each ring has been used since the start.
    struct usage {
        std::uint64_t words = 0, entries = 0;
    };
    class writer;
    void ring_doorbell() noexcept;

    places where_;
    std::atomic<ticket> last_{0};   ///< the last submitted one
    std::uint32_t last_length_ = 0; ///< the engine's LINE_LENGTH_IN
    host_order order_;
    usage used_;
    std::array<usage, most_tickets> used_by_; ///< by all tickets up to this number
};

} // namespace barmap::engine
