// SPDX-License-Identifier: MIT
#pragma once

#include "gpu/device_state.hpp"

#include <memory>
#include <string>

namespace barmap {

/// Notes that this process uses CUDA, so that its forked children cannot.
/// @throws error errc::forked_child in such a child
void expect_first_process(std::string operation);

/// The state of a GPU that all its handles share: the one that is alive, or a new one. Opening one
/// GPU waits for no other. @throws error as device::open()
[[nodiscard]] std::shared_ptr<device_state> open_device(int ordinal);

/// The same for a GPU of which another process has shared memory, without CUDA. A forked child
/// makes its own. @throws error errc::invalid_argument for an unknown BARMAP_ENGINE
[[nodiscard]] std::shared_ptr<device_state> open_without_cuda(backend::gpu const& which);

} // namespace barmap
