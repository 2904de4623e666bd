// SPDX-License-Identifier: MIT
#pragma once

#include "place.hpp"

#include <barmap/batch_queue.hpp>
#include <barmap/types.hpp>

#include <backend/backend_engine.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace barmap::nixl {

/// To stderr.
void say(char const* what) noexcept;

/// @throws error if it is not registered any more
[[nodiscard]] std::shared_ptr<place const> place_of(nixlMetaDesc const& descriptor);

/// A batch, and the places that it is of; what is opened of other processes stays so.
struct kept_pieces {
    std::vector<copy_piece> list;
    std::vector<std::shared_ptr<place const>> places;
};

/// @param gpu that copies. @throws error for what it cannot reach
[[nodiscard]] kept_pieces make_pieces(nixl_xfer_op_t operation, nixl_meta_dlist_t const& local,
                                      nixl_meta_dlist_t const& remote, int gpu);

/// A transfer, from its preparation to its release; it may be posted again.
struct request final : nixlBackendReqH {
    request(batch_queue its_queue, kept_pieces its_pieces, std::string its_agent)
        : queue(std::move(its_queue)), pieces(std::move(its_pieces)), agent(std::move(its_agent)) {}

    batch_queue queue;
    kept_pieces pieces;
    std::string agent;
    batch_ticket ticket{};
    nixl_status_t status = NIXL_ERR_NOT_POSTED;
    std::optional<std::string> notification; ///< for the agent, when the bytes are there
};

} // namespace barmap::nixl
