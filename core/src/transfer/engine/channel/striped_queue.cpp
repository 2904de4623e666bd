// SPDX-License-Identifier: MIT
#include "transfer/engine/channel/striped_queue.hpp"

#include "cuda/driver_api.hpp"
#include "transfer/engine/spin.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <list>
#include <numeric>

namespace barmap::engine {
namespace {

constexpr std::size_t rounded_up(std::size_t number, std::size_t by) noexcept {
    return (number + by - 1) / by;
}

std::size_t bytes_of(std::span<copy_piece const> pieces) noexcept {
    return std::accumulate(
        pieces.begin(), pieces.end(), std::size_t{0},
        [](std::size_t sum, copy_piece const& each) { return sum + each.bytes; });
}

/// The pieces that one channel copies in one ticket.
std::span<copy_piece const> part_of(std::span<copy_piece const> own, std::size_t round) noexcept {
    std::size_t const at = std::min(own.size(), round * command_ring::most_pieces);
    return own.subspan(at, std::min(own.size() - at, command_ring::most_pieces));
}

} // namespace

striped_queue::striped_queue(cuda_session& session, std::span<std::uint32_t const> engine_types) {
    channels_.reserve(engine_types.size());
    for (std::uint32_t const each : engine_types) {
        try {
            channels_.push_back(std::make_unique<channel_queue>(session, each));
        } catch (std::exception const&) {
            if (channels_.empty())
                throw;
        }
    }
}

// Everything that may fail comes first. Once the write of the stream's word is enqueued, every
// channel gets its tickets, with or without pieces: tickets stay in step, and no stream waits for
// ever.
ticket striped_queue::submit(direction which, std::span<copy_piece const> pieces, std::size_t bytes,
                             stream_order const& order) {
    std::size_t const share = rounded_up(pieces.size(), channels_.size());
    std::size_t const rounds =
        std::max<std::size_t>(1, rounded_up(share, command_ring::most_pieces));
    auto const own = [&](std::size_t channel) {
        std::size_t const at = std::min(pieces.size(), channel * share);
        return pieces.subspan(at, std::min(share, pieces.size() - at));
    };
    auto const may_take = [&] {
        return std::ranges::all_of(channels_,
                                   [&](auto const& each) { return each->may_take(share, rounds); });
    };
    if (spin(
            may_take, [&] { return is_in_trouble(); }, device_clock::time_point::max()) !=
        copy_outcome::done)
        throw has_stopped("earlier batches did not end in time: see `barmap info`");
    std::vector<std::list<channel_queue::waiting_ticket>> spare(channels_.size());
    for (std::size_t i = 0; i < channels_.size(); ++i)
        spare[i] = channels_[i]->make_spare(own(i).size(), rounds);

    ticket const first = channels_.front()->next(), last = first + rounds - 1;
    semaphore_word begin;
    if (order.after)
        begin = channels_.front()->word_of(first);
    auto const [result, is_ordered] = let_streams_wait(order, begin, last);
    if (result != cuda::success) {
        if (!is_ordered)
            check_stream(result);
        pieces = {};
    }
    auto const until =
        order.at_most ? device_clock::now() + *order.at_most : device_clock::time_point::max();
    for (std::size_t round = 0; round < rounds; ++round, begin = {})
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            auto const part = pieces.empty() ? pieces : part_of(own(i), round);
            channels_[i]->give(which, part, rounds == 1 ? bytes : bytes_of(part), begin, until,
                               spare[i]);
        }
    check_stream(result);
    return last;
}

striped_queue::ordering striped_queue::let_streams_wait(stream_order const& order,
                                                        semaphore_word const& begin,
                                                        ticket last) const {
    if (order.after && order.then == order.after)
        if (auto const result = let_one_stream_wait(*order.after, begin, last))
            return {*result, *result == cuda::success};
    ordering made;
    if (order.after) {
        made.result = channels_.front()->let_begin(*order.after, begin);
        made.is_ordered = made.result == cuda::success;
    }
    if (order.then)
        for (auto each = channels_.begin(); each != channels_.end() && made.result == cuda::success;
             ++each) {
            made.result = cuda::api().stream_wait_value32(*order.then, (*each)->semaphore_on_gpu(),
                                                          static_cast<std::uint32_t>(last),
                                                          cuda::wait_value_geq);
            made.is_ordered |= made.result == cuda::success;
        }
    return made;
}

// One entry, so that no work of another thread comes between the stream's word and its waits: it
// would see a part of the batch.
std::optional<CUresult> striped_queue::let_one_stream_wait(CUstream stream,
                                                           semaphore_word const& begin,
                                                           ticket last) const {
    if (!channels_.front()->takes_stream_writes())
        return std::nullopt;
    std::vector<CUstreamBatchMemOpParams> operations{
        {cuda::operation_write_value32, begin.address, begin.value, 0, 0, 0}};
    for (auto const& each : channels_)
        operations.push_back({cuda::operation_wait_value32, each->semaphore_on_gpu(),
                              static_cast<std::uint32_t>(last), cuda::wait_value_geq, 0, 0});
    CUresult const result = cuda::api().stream_batch_mem_op(
        stream, static_cast<unsigned>(operations.size()), operations.data(), 0);
    bool const is_unknown = result == cuda::error_not_supported || result == cuda::error_not_found;
    return is_unknown ? std::nullopt : std::optional(result);
}

state striped_queue::poll(ticket number) const noexcept {
    auto result = state::done;
    for (auto const& each : channels_)
        result = std::max(result, each->poll(number));
    return result;
}

bool striped_queue::feed() noexcept {
    bool has_more = false;
    for (auto const& each : channels_)
        has_more |= each->feed();
    return has_more;
}

bool striped_queue::has_waiting() const noexcept {
    return std::ranges::any_of(channels_, [](auto const& each) { return each->has_waiting(); });
}

bool striped_queue::is_idle() const noexcept {
    return std::ranges::all_of(channels_, [](auto const& each) { return each->is_idle(); });
}

bool striped_queue::is_copying(direction which) const noexcept {
    return std::ranges::any_of(channels_,
                               [=](auto const& each) { return each->is_copying(which); });
}

bool striped_queue::is_copying_bulk() const noexcept {
    return std::ranges::any_of(channels_, [](auto const& each) { return each->is_copying_bulk(); });
}

void striped_queue::watch() noexcept {
    for (auto const& each : channels_)
        each->watch();
}

bool striped_queue::is_in_trouble() const noexcept {
    return std::ranges::any_of(channels_, [](auto const& each) { return each->is_in_trouble(); });
}

bool striped_queue::has_ended() const noexcept {
    return std::ranges::all_of(channels_, [](auto const& each) { return each->has_ended(); });
}

std::string striped_queue::trouble() const {
    auto const found =
        std::ranges::find_if(channels_, [](auto const& each) { return each->is_in_trouble(); });
    return (found == channels_.end() ? channels_.front() : *found)->trouble();
}

bool striped_queue::stop() noexcept {
    bool is_over = true;
    for (auto const& each : channels_)
        is_over &= each->stop();
    return is_over;
}

} // namespace barmap::engine
