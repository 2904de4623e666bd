// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/batch_queue.hpp>
#include <barmap/error.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace barmap {
inline namespace BARMAP_INLINE_NAMESPACE {

/// Batches of one GPU whose tickets nobody holds, since only streams wait for them: the next call
/// reports a failure, as CUDA's next call does.
///
///     barmap::unheld_batches<std::shared_ptr<buffer>> unheld;
///     using barmap::batch_queue;
///     unheld.leave(queue.submit(pieces, batch_queue::after{stream}, batch_queue::then{stream}),
///                  staging);
///     ...
///     std::vector<std::shared_ptr<buffer>> ended; // destroyed after the call, outside of its lock
///     unheld.expect_none_failed(queue, ended);    // before the next batch, say
///
/// Thread rule: threads may call every member concurrently.
/// @tparam Kept what is kept with a batch until it has ended, such as what owns its memory
template <class Kept>
class unheld_batches {
public:
    /// Keeps a batch until expect_none_failed() has seen its end. @throws std::bad_alloc
    void leave(batch_ticket ticket, Kept kept) {
        std::uint64_t const its = batch_queue::queue_of(ticket);
        std::lock_guard const hold(lock_);
        auto found = std::find_if(lines_.begin(), lines_.end(),
                                  [=](line const& each) { return each.queue == its; });
        if (found == lines_.end())
            found = lines_.insert(lines_.end(), line{its, {}});
        found->batches.push_back({ticket, std::move(kept)});
    }

    /// Forgets the batches that have ended. The batches of one queue end in their order; one whose
    /// stream does not come hides no failure of another queue.
    /// @param ended receives what was kept with them, also with an exception
    /// @throws error errc::copy_unfinished if one has failed, errc::invalid_argument for a ticket
    ///         that the queue did not give: once for all of these; another error if the queue
    ///         cannot be asked: then none is forgotten for it
    void expect_none_failed(batch_queue const& queue, std::vector<Kept>& ended) {
        std::exception_ptr failure;
        std::lock_guard const hold(lock_);
        try {
            for (line& each : lines_)
                while (!each.batches.empty() &&
                       has_ended(queue, each.batches.front().ticket, failure)) {
                    ended.push_back(std::move(each.batches.front().kept));
                    each.batches.pop_front();
                }
        } catch (std::exception const&) {
            if (!failure)
                throw; // else the next call continues
        }
        std::erase_if(lines_, [](line const& each) { return each.batches.empty(); });
        if (failure)
            std::rethrow_exception(failure);
    }

private:
    struct batch {
        batch_ticket ticket;
        Kept kept;
    };
    /// The batches of one queue of an engine, the oldest first.
    struct line {
        std::uint64_t queue; ///< the part of a ticket above its number
        std::deque<batch> batches;
    };

    static bool has_ended(batch_queue const& queue, batch_ticket ticket,
                          std::exception_ptr& failure) {
        try {
            return queue.done(ticket);
        } catch (error const& why) {
            if (why.code() != errc::copy_unfinished && why.code() != errc::invalid_argument)
                throw;
            if (!failure)
                failure = std::current_exception();
            return true;
        }
    }

    std::mutex lock_;
    std::vector<line> lines_;
};

} // namespace BARMAP_INLINE_NAMESPACE
} // namespace barmap
