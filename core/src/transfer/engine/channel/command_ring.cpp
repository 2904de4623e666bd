// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/command_ring.hpp"

#include "nvidia/channel.hpp"
#include "transfer/cpu/fence.hpp"

#include <barmap/gpu/copy_commands.cuh>

#include <algorithm>
#include <atomic>

namespace barmap::engine {

namespace abi = rm::abi;
namespace commands = barmap::gpu::commands;

namespace {

// Volatile: the GPU reads the word, so the compiler must not split the store.
template <class Word>
void store(std::byte* to, Word value) noexcept {
    *reinterpret_cast<Word volatile*>(to) = value;
}

using commands::high, commands::low;

} // namespace

/// Writes one run of words, and the GPFIFO entry that leads to it.
class command_ring::writer {
public:
    writer(command_ring& ring, std::size_t most_words) noexcept : ring_(ring) {
        // A run is contiguous, so the remaining words at the ring's end stay unused.
        std::size_t const at = ring.used_.words % ring_words;
        if (at + most_words > ring_words)
            ring.used_.words += ring_words - at;
        first_ = ring.used_.words % ring_words;
    }
    writer(writer const&) = delete;
    writer& operator=(writer const&) = delete;

    void put(std::uint32_t word) noexcept {
        store(ring_.where_.block + words_at + (first_ + count_++) * sizeof word, word);
    }
    /// Two words in one store. @pre the number of words before is even
    void put(std::uint32_t first, std::uint32_t second) noexcept {
        store(ring_.where_.block + words_at + (first_ + count_) * sizeof first,
              static_cast<std::uint64_t>(second) << 32 | first);
        count_ += 2;
    }
    void put_copy(std::uint64_t from, std::uint64_t to, std::size_t bytes,
                  std::uint32_t launch) noexcept {
        auto const length = static_cast<std::uint32_t>(bytes);
        if (length != ring_.last_length_) {
            put(commands::methods(commands::copy_subchannel, commands::method_line_length, 1),
                length);
            ring_.last_length_ = length;
        }
        put(commands::methods(commands::copy_subchannel, commands::method_offset_in, 4),
            high(from));
        put(low(from), high(to));
        put(low(to), commands::immediate_method(commands::copy_subchannel,
                                                commands::method_launch_dma, launch));
    }

    /// A semaphore release without a copy.
    void put_semaphore(std::uint32_t value) noexcept {
        put(commands::methods(commands::copy_subchannel, commands::method_semaphore_payload, 1),
            value);
        put(commands::immediate_method(commands::copy_subchannel, commands::method_launch_dma,
                                       commands::launch_linear | commands::launch_flush |
                                           commands::launch_semaphore));
    }
    void put_acquire(semaphore_word const& awaited) noexcept {
        put(commands::methods(abi::host_subchannel, abi::method_channel_semaphore, 5),
            low(awaited.address));
        put(high(awaited.address), awaited.value);
        // Without the switch, other channels' copies would wait for up to a time slice.
        put(0, abi::semaphore_acquire | abi::semaphore_acquire_switch);
    }
    /// Reports that the ticket's wait is over.
    void put_begun(std::uint64_t address, std::uint32_t ticket) noexcept {
        put(commands::methods(abi::host_subchannel, abi::method_channel_semaphore, 5),
            low(address));
        put(high(address), ticket);
        put(0, abi::semaphore_release);
    }

    ~writer() {
        std::uint64_t const start = ring_.where_.block_on_gpu + words_at + first_ * 4;
        store(ring_.where_.block + ring_.used_.entries % gpfifo_entries * sizeof(std::uint64_t),
              commands::gpfifo_entry(start, static_cast<std::uint32_t>(count_)));
        ++ring_.used_.entries;
        ring_.used_.words += (count_ + line_words - 1) / line_words * line_words;
    }

private:
    command_ring& ring_;
    std::size_t first_ = 0, count_ = 0;
};

command_ring::command_ring(places const& where) noexcept : where_(where) {
    if (where.block_on_gpu >> 40 != 0)
        store(where.block + used_.entries++ * sizeof(std::uint64_t),
              commands::gpfifo_extended_base(where.block_on_gpu));
    {
        writer words(*this, line_words);
        words.put(commands::methods(commands::copy_subchannel, commands::method_set_object, 1));
        words.put(where.copy_class);
        words.put(commands::methods(commands::copy_subchannel, commands::method_set_semaphore, 2));
        words.put(high(where.semaphore_on_gpu));
        words.put(low(where.semaphore_on_gpu));
    } // executed, and so free again, with the first ticket: until then used_by_ knows of none
    last_ = where.last;
}

bool command_ring::has_room(std::size_t pieces, std::size_t tickets) const noexcept {
    ticket const last = last_.load(std::memory_order_relaxed), done = progress();
    if (last - done + tickets > most_tickets - 1)
        return false;
    std::size_t const chunks = 2 * tickets + pieces / next_chunk;
    // Each chunk may leave some of its last line unused, and one of them the ring's end.
    std::size_t const words = pieces * words_of_piece + tickets * words_of_ticket +
                              chunks * line_words + next_chunk * words_of_piece + words_of_ticket;
    usage const& free_from = used_by_[done % most_tickets];
    return used_.words + words - free_from.words <= ring_words &&
           used_.entries + chunks - free_from.entries < gpfifo_entries;
}

ticket command_ring::submit(std::span<copy_piece const> pieces, semaphore_word const& begin,
                            host_side host) noexcept {
    ticket const number = next();
    // The first copy starts when all earlier ones are done; the others overlap.
    std::uint32_t launch = commands::launch_linear | commands::launch_non_pipelined;
    std::size_t at = 0, chunk = first_chunk;
    // An idle engine copies the first chunks while the CPU sorts the others.
    bool const is_idle = begin.address == 0 && progress() + 1 == number;
    std::size_t const from = is_idle ? first_chunk + 4 * next_chunk : 0;
    bool is_reordered = false;
    do {
        if (host && at == from)
            is_reordered = order_.find(pieces.subspan(at), host);
        std::size_t const end = std::min(pieces.size(), at + chunk);
        {
            writer words(*this, (end - at) * words_of_piece + words_of_ticket);
            if (at == 0 && begin.address != 0) {
                words.put_acquire(begin);
                words.put_begun(where_.begun_on_gpu, low(number));
            }
            if (pieces.empty())
                words.put_semaphore(low(number));
            for (; at < end; ++at) {
                copy_piece const& each = pieces[is_reordered ? from + order_[at - from] : at];
                if (at + 1 == pieces.size()) {
                    // Without the flush, 2 of 97,271 copies were stale at the semaphore (H200).
                    launch |= commands::launch_flush | commands::launch_semaphore;
                    words.put(commands::methods(commands::copy_subchannel,
                                                commands::method_semaphore_payload, 1),
                              low(number));
                }
                words.put_copy(each.from, each.to, each.bytes, launch);
                launch = commands::launch_linear | commands::launch_pipelined;
            }
        }
        ring_doorbell();
        chunk = next_chunk;
    } while (at < pieces.size());
    used_by_[number % most_tickets] = used_;
    last_.store(number, std::memory_order_release);
    return number;
}

// In this order: the words and the entry, the place where the entries end, the doorbell. The last
// flush sends the doorbell at once.
void command_ring::ring_doorbell() noexcept {
    copy::flush_wc_stores();
    store(where_.block + userd_at + commands::userd_gp_put,
          static_cast<std::uint32_t>(used_.entries % gpfifo_entries));
    copy::flush_wc_stores();
    // All channels share one doorbell.
    std::atomic_ref(*where_.doorbell).store(where_.token, std::memory_order_relaxed);
    copy::flush_wc_stores();
}

ticket command_ring::progress() const noexcept {
    ticket const last = last_.load(std::memory_order_acquire);
    std::uint32_t const done = std::atomic_ref(*const_cast<std::uint32_t*>(where_.semaphore))
                                   .load(std::memory_order_acquire);
    // The semaphore may be ahead of `last`, which was read earlier.
    return last + static_cast<std::uint64_t>(
                      static_cast<std::int64_t>(static_cast<std::int32_t>(done - low(last))));
}

} // namespace barmap::engine
