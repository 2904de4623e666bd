// SPDX-License-Identifier: MIT
#pragma once

#include "control.hpp"

namespace barmap::fake {

/// What the simulated GPU answers beside the driver API (sim/control.hpp), for the library that
/// barmap itself has loaded.
struct simulation {
    decltype(&barmap_sim_object) object;
    decltype(&barmap_sim_fd_layout) fd_layout;
    decltype(&barmap_sim_fd_device) fd_device;
    decltype(&barmap_sim_address) address;
    decltype(&barmap_sim_reach) reach;
    decltype(&barmap_sim_calls) calls;
    decltype(&barmap_sim_fail) fail;
    decltype(&barmap_sim_live) live;
    decltype(&barmap_sim_bar1_total) bar1_total;
    decltype(&barmap_sim_client) client;
    decltype(&barmap_sim_gpu_id) gpu_id;
    decltype(&barmap_sim_uuid) uuid;
};

/// Loads the simulated GPU if nothing has yet. Aborts the test where that cannot be done.
[[nodiscard]] simulation const& the_simulation();

} // namespace barmap::fake
