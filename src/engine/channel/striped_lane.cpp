// SPDX-License-Identifier: MIT
#include "engine/channel/striped_lane.hpp"

#include "engine/spin.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <utility>

namespace barmap::engine {

striped_lane::striped_lane(cuda_session& session, std::span<std::uint32_t const> engine_types) {
    for (std::uint32_t const each : engine_types) {
        try {
            channels_.push_back(std::make_unique<cuda_lane>(session, each));
        } catch (error const&) {
            if (channels_.empty())
                throw;
        }
    }
}

ticket striped_lane::submit(direction which, std::span<piece const> pieces, std::size_t bytes,
                            stream_order const& order) {
    if (channels_.size() == 1)
        return channels_.front()->submit(which, pieces, bytes, order);
    // In rounds of one ticket of each channel, so that the tickets keep step and no channel waits
    // until another has been given everything.
    std::size_t const most = command_ring::most_pieces * channels_.size();
    stream_order now{order.after, std::nullopt, order.at_most};
    ticket result = 0;
    try {
        do {
            std::span<piece const> round = pieces.first(std::min(pieces.size(), most));
            pieces = pieces.subspan(round.size());
            if (pieces.empty())
                now.then = order.then;
            std::size_t left = channels_.size();
            for (std::unique_ptr<cuda_lane> const& each : channels_) {
                std::span<piece const> const part = round.first((round.size() + left - 1) / left);
                --left;
                round = round.subspan(part.size());
                result = each->submit(which, part, bytes, now);
            }
            now.after.reset();
            bytes = 0; // counted once
        } while (!pieces.empty());
    } catch (error const&) {
        finish();
        throw;
    }
    return result;
}

/// After a submission that only some have got: ends it, and lets the tickets keep step.
void striped_lane::finish() noexcept {
    ticket last = 0;
    for (std::unique_ptr<cuda_lane> const& each : channels_)
        last = std::max(last, each->latest());
    try {
        for (std::unique_ptr<cuda_lane> const& each : channels_)
            while (each->latest() < last)
                (void)each->submit(direction::to_cpu, {}, 0, {});
    } catch (error const&) {
        return; // it is in trouble: whoever submitted sees to its end
    }
    (void)spin([&] { return is_idle(); }, [&] { return is_in_trouble(); },
               std::chrono::steady_clock::time_point::max());
}

batch_engine::state striped_lane::look(ticket number) const noexcept {
    using enum batch_engine::state;
    batch_engine::state result = done;
    for (std::unique_ptr<cuda_lane> const& each : channels_) {
        batch_engine::state const part = each->look(number);
        if (part == failed)
            return failed;
        if (part == under_way)
            result = under_way;
    }
    return result;
}

bool striped_lane::is_idle() const noexcept {
    return std::ranges::all_of(channels_, [](auto const& each) { return each->is_idle(); });
}

bool striped_lane::is_copying(direction which) const noexcept {
    return std::ranges::any_of(channels_, [=](auto const& each) { return each->is_copying(which); });
}

bool striped_lane::is_in_trouble() const noexcept {
    return std::ranges::any_of(channels_, [](auto const& each) { return each->is_in_trouble(); });
}

bool striped_lane::has_ended() const noexcept {
    return std::ranges::all_of(channels_, [](auto const& each) { return each->has_ended(); });
}

std::string striped_lane::trouble() const {
    auto const found =
        std::ranges::find_if(channels_, [](auto const& each) { return each->is_in_trouble(); });
    return (found == channels_.end() ? channels_.front() : *found)->trouble();
}

bool striped_lane::stop() noexcept {
    bool is_over = true;
    for (std::unique_ptr<cuda_lane> const& each : channels_)
        is_over &= each->stop();
    return is_over;
}

} // namespace barmap::engine
