// SPDX-License-Identifier: MIT
#pragma once

#include "transfer/engine/channel/channel_queue.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace barmap::engine {

/// A queue of batches: one channel, or several on different copy engines that each copy a part of
/// every batch. One engine alone does not keep up with small pieces while the link's other
/// direction is busy.
/// Thread rule: as that of channel_queue.
class striped_queue {
public:
    /// With as many channels as can be had. @pre the session's context is current
    /// @throws error if there is none
    striped_queue(cuda_session& session, std::span<std::uint32_t const> engine_types);

    /// @throws has_stopped, error what CUDA says of a stream, std::bad_alloc; nothing is in flight
    /// then
    ticket submit(direction which, std::span<piece const> pieces, std::size_t bytes,
                  stream_order const& order);

    /// Where a batch is: done if each channel has done its part.
    [[nodiscard]] state poll(ticket number) const noexcept;

    // As those of channel_queue.
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
    std::vector<std::unique_ptr<channel_queue>> channels_; ///< their tickets keep step
};

} // namespace barmap::engine
