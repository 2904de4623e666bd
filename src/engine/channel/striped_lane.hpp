// SPDX-License-Identifier: MIT
#pragma once

#include "engine/channel/cuda_lane.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace barmap::engine {

/// Channels on different copy engines that take each batch together: a part each, under one ticket.
/// One engine alone does not keep up with small pieces while the link's other way is busy.
/// Thread rule: look() at any time; the others by one caller at a time.
class striped_lane {
public:
    /// A channel on each engine; where only the first can be had, that one.
    /// @pre the session's context is current, engine_types is not empty. @throws error
    striped_lane(cuda_session& session, std::span<std::uint32_t const> engine_types);

    /// @pre it has not failed. @throws error what cuda_lane::submit throws; then nothing of the
    /// batch is under way, unless it is in trouble
    ticket submit(direction which, std::span<piece const> pieces, std::size_t bytes,
                  stream_order const& order);

    /// Where a batch is: done if each channel has done its part.
    [[nodiscard]] batch_engine::state look(ticket number) const noexcept;

    // As those of cuda_lane.
    [[nodiscard]] bool is_idle() const noexcept;
    [[nodiscard]] bool is_copying(direction which) const noexcept;
    [[nodiscard]] bool is_in_trouble() const noexcept;
    [[nodiscard]] bool has_ended() const noexcept;
    [[nodiscard]] std::string trouble() const;
    bool stop() noexcept;

private:
    void finish() noexcept;

    std::vector<std::unique_ptr<cuda_lane>> channels_; ///< their tickets keep step
};

} // namespace barmap::engine
