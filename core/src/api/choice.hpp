// SPDX-License-Identifier: MIT
#pragma once

#include "api/pin_state.hpp"

#include <barmap/pin.hpp>

#include <memory>
#include <string_view>

/// Which backend reaches a piece of memory: the first that can and works.
namespace barmap {

/// @throws error as device::pin()
[[nodiscard]] std::shared_ptr<pin_state const>
pin_memory(std::shared_ptr<device_state> const& device, CUdeviceptr address, std::size_t bytes,
           pin_options const& how);

/// @throws error as device::pin() of an IPC handle
[[nodiscard]] std::shared_ptr<pin_state const>
pin_ipc_memory(std::shared_ptr<device_state> const& device, ipc_handle const& handle,
               std::size_t offset, std::size_t bytes, pin_options const& how);

/// @throws error as device::allocate()
[[nodiscard]] std::shared_ptr<pin_state const>
allocate_memory(std::shared_ptr<device_state> const& device, std::size_t bytes,
                std::string_view backend);

/// No backend can map this memory.
/// @param operation that names the range, to which the kind of its memory is added
/// @param backend   that was asked for, or empty
[[noreturn]] void refuse_memory(cuda::memory const& memory, std::string const& operation,
                                std::string_view backend);

} // namespace barmap
