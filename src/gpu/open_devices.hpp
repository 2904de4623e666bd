// SPDX-License-Identifier: MIT
#pragma once

#include "gpu/device_state.hpp"

#include <memory>

namespace barmap {

/// The state of a GPU that all its handles share: the one that is alive, or a new one. Opening one
/// GPU waits for no other. @throws error as device::open()
[[nodiscard]] std::shared_ptr<device_state> open_device(int ordinal);

} // namespace barmap
