// SPDX-License-Identifier: MIT
#pragma once

#include "place.hpp"

#include <barmap/batch_queue.hpp>
#include <barmap/types.hpp>

#include <list>
#include <memory>
#include <vector>

namespace barmap::nixl {

/// A batch, and the places that it is of; what is opened of other processes stays so.
struct kept_pieces {
    std::vector<copy_piece> list;
    std::vector<std::shared_ptr<place const>> places; ///< in the order of their addresses
};

/// Copies that are made each time that they are posted. The end of a registration waits for those
/// in flight, whichever agent of the process has posted them.
/// Thread rule: one transfer by one thread at a time; wait_for_copies() at any time.
class prepared_transfer {
public:
    prepared_transfer(batch_queue queue, kept_pieces pieces);
    prepared_transfer(prepared_transfer const&) = delete;
    prepared_transfer& operator=(prepared_transfer const&) = delete;
    /// Waits for what is in flight, which ends or fails by itself: a batch cannot be called back.
    ~prepared_transfer();

    /// Begins to copy. @pre what was posted last is done or has failed
    /// @return false, and nothing is copied, if a place is closed
    /// @throws error as batch_queue::submit()
    [[nodiscard]] bool post();

    /// Whether what was posted last is done. @throws error as batch_queue::done()
    [[nodiscard]] bool is_done();

    /// Waits until no transfer of this process copies from this place or to it.
    /// @pre the place is closed
    static void wait_for_copies(place const& of) noexcept;

private:
    struct posted_transfers;
    static posted_transfers& posted();
    [[nodiscard]] bool is_of(place const& one) const noexcept;
    void leave() noexcept;

    batch_queue queue_;
    kept_pieces pieces_;
    std::list<prepared_transfer*> node_{this}; ///< empty while it is in the list of the posted ones
    std::list<prepared_transfer*>::iterator const in_list_ = node_.begin();
    // Written under the lock of the posted ones, and read under it by other threads:
    batch_ticket ticket_{};
    bool is_submitted_ = false; ///< the ticket is that of the last post()
    bool has_ended_ = false;    ///< as wait_for_copies() has found
};

} // namespace barmap::nixl
