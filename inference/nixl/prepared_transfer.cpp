// SPDX-License-Identifier: MIT
#include "prepared_transfer.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

namespace barmap::nixl {
namespace {

void wait_for_end(batch_queue const& queue, batch_ticket ticket) noexcept {
    constexpr std::chrono::milliseconds a_while{100};
    try {
        while (!queue.wait(ticket, a_while)) {
        }
    } catch (std::exception const&) {
        // It has failed: nothing is in flight.
    }
}

} // namespace

struct prepared_transfer::posted_transfers {
    std::mutex lock;
    std::condition_variable has_changed; ///< a transfer is submitted, or has left the list
    std::list<prepared_transfer*> list;
};

prepared_transfer::posted_transfers& prepared_transfer::posted() {
    static auto& all = *new posted_transfers; // agents may outlive every static object
    return all;
}

prepared_transfer::prepared_transfer(batch_queue queue, kept_pieces pieces)
    : queue_(std::move(queue)), pieces_(std::move(pieces)) {}

prepared_transfer::~prepared_transfer() {
    if (node_.empty()) {
        wait_for_end(queue_, ticket_);
        leave();
    }
}

// A place is closed before wait_for_copies() looks at the list. A transfer that comes into the list
// later finds the place closed; one that was there before is waited for.

bool prepared_transfer::post() {
    posted_transfers& all = posted();
    {
        std::lock_guard const hold(all.lock);
        is_submitted_ = has_ended_ = false;
        all.list.splice(all.list.begin(), node_);
    }
    try {
        if (!std::ranges::all_of(pieces_.places,
                                 [](auto const& each) { return each->is_open(); })) {
            leave();
            return false;
        }
        batch_ticket const ticket = queue_.submit(pieces_.list);
        std::lock_guard const hold(all.lock);
        ticket_ = ticket;
        is_submitted_ = true;
    } catch (...) {
        leave();
        throw;
    }
    all.has_changed.notify_all();
    return true;
}

bool prepared_transfer::is_done() {
    try {
        if (!queue_.done(ticket_))
            return false;
    } catch (...) {
        leave();
        throw;
    }
    leave();
    return true;
}

bool prepared_transfer::is_of(place const& one) const noexcept {
    return std::ranges::binary_search(pieces_.places, &one, {},
                                      [](auto const& each) { return each.get(); });
}

void prepared_transfer::leave() noexcept {
    if (!node_.empty())
        return;
    posted_transfers& all = posted();
    {
        std::lock_guard const hold(all.lock);
        node_.splice(node_.begin(), all.list, in_list_);
    }
    all.has_changed.notify_all();
}

void prepared_transfer::wait_for_copies(place const& of) noexcept {
    posted_transfers& all = posted();
    std::unique_lock hold(all.lock);
    for (;;) {
        auto const found = std::ranges::find_if(all.list, [&](prepared_transfer const* each) {
            return !each->has_ended_ && each->is_of(of);
        });
        if (found == all.list.end())
            return;
        if (!(*found)->is_submitted_) {
            all.has_changed.wait(hold);
            continue;
        }
        // The transfer itself may be gone when its copies have ended.
        batch_queue const queue = (*found)->queue_;
        batch_ticket const ticket = (*found)->ticket_;
        hold.unlock();
        wait_for_end(queue, ticket);
        hold.lock();
        for (prepared_transfer* const each : all.list)
            each->has_ended_ |= each->is_submitted_ && each->ticket_ == ticket;
    }
}

} // namespace barmap::nixl
