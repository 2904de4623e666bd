// SPDX-License-Identifier: MIT
#pragma once

#include "prepared_transfer.hpp"

#include <barmap/batch_queue.hpp>

#include <backend/backend_engine.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace barmap::nixl {

/// @throws error if it is not registered any more
[[nodiscard]] std::shared_ptr<place const> place_of(nixlMetaDesc const& descriptor);

/// @param gpu that copies. @throws error for what it cannot reach
[[nodiscard]] kept_pieces make_pieces(nixl_xfer_op_t operation, nixl_meta_dlist_t const& local,
                                      nixl_meta_dlist_t const& remote, int gpu);

/// A transfer, from its preparation to its release, as NIXL keeps it.
struct request final : nixlBackendReqH {
    request(batch_queue queue, kept_pieces pieces, std::string its_agent)
        : copies(std::move(queue), std::move(pieces)), agent(std::move(its_agent)) {}

    prepared_transfer copies;
    std::string agent;
    std::optional<std::string> notification; ///< for the agent, when the bytes are there
};

} // namespace barmap::nixl
