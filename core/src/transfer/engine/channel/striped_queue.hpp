// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/engine/channel/channel_queue.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace barmap::engine {

/// A queue of batches: one channel, or several on different copy engines that each copy a part of
/// every batch. One engine alone is too slow for small pieces while the link's other direction is
/// busy.
/// Thread rule: see channel_queue.
class striped_queue {
public:
    /// Opens as many channels as possible. @pre the session's context is current
    /// @throws error if it can open none
    striped_queue(cuda_session& session, std::span<std::uint32_t const> engine_types);

    /// @throws has_stopped, CUDA's error for a stream, std::bad_alloc; then no piece is in flight
    ticket submit(direction which, std::span<copy_piece const> pieces, std::size_t bytes,
                  stream_order const& order);

    /// The state of a batch: done when every channel has finished its part.
    [[nodiscard]] state poll(ticket number) const noexcept;

    // See channel_queue.
    bool feed() noexcept;
    [[nodiscard]] bool has_waiting() const noexcept;
    [[nodiscard]] bool is_idle() const noexcept;
    [[nodiscard]] bool is_copying(direction which) const noexcept;
    [[nodiscard]] bool is_copying_bulk() const noexcept;
    void watch() noexcept;
    [[nodiscard]] bool is_in_trouble() const noexcept;
    [[nodiscard]] bool has_ended() const noexcept;
    [[nodiscard]] std::string trouble() const;
    bool stop() noexcept;

private:
    /// CUDA's result, and whether a stream waits or will write its word.
    struct ordering {
        CUresult result = 0;
        bool is_ordered = false;
    };
    /// Makes `after` write the word when it reaches this point, and `then` wait for the ticket.
    /// @throws std::bad_alloc; then no stream has anything of it
    [[nodiscard]] ordering let_streams_wait(stream_order const& order, semaphore_word const& begin,
                                            ticket last) const;
    /// Both, of one stream, in one entry; nothing where this GPU or driver has no such entries.
    [[nodiscard]] std::optional<CUresult>
    let_one_stream_wait(CUstream stream, semaphore_word const& begin, ticket last) const;

    std::vector<std::unique_ptr<channel_queue>> channels_; ///< with equal ticket numbers
};

} // namespace barmap::engine
