// SPDX-License-Identifier: MIT
/// The structures behind the handles of the C interface.
#pragma once

#include "api/batch_queue_state.hpp"
#include "api/host_buffer_state.hpp"
#include "api/pin_state.hpp"
#include "base/c_boundary.hpp"

#include <barmap/window.hpp>

#include <cstddef>
#include <memory>
#include <utility>

struct barmap_device : barmap::c::shared_handle {
    explicit barmap_device(std::shared_ptr<barmap::device_state> of) : state(std::move(of)) {}
    std::shared_ptr<barmap::device_state> const state;
};

struct barmap_pin {
    std::shared_ptr<barmap::pin_state const> state;
};

struct barmap_mapping {
    barmap::window whole; ///< first, for the hot path
    std::unique_ptr<barmap::mapping_state> state;
};

struct barmap_batch_queue : barmap::c::shared_handle {
    explicit barmap_batch_queue(std::shared_ptr<barmap::batch_queue_state> of)
        : state(std::move(of)) {}
    std::shared_ptr<barmap::batch_queue_state> const state;
};

struct barmap_host_buffer {
    barmap_host_buffer(std::shared_ptr<barmap::device_state> of, std::size_t bytes)
        : state(std::move(of), bytes) {}
    barmap::host_buffer_state state;
};

namespace barmap {

/// The GPU of a handle. @throws error errc::invalid_argument for NULL
inline std::shared_ptr<device_state> const& state_of(barmap_device const* device,
                                                     char const* operation) {
    return c::expect(device, operation, "create a device first").state;
}
inline std::shared_ptr<pin_state const> const& state_of(barmap_pin const* pin,
                                                        char const* operation) {
    return c::expect(pin, operation, "pin some memory first").state;
}
inline batch_queue_state& state_of(barmap_batch_queue const* queue, char const* operation) {
    return *c::expect(queue, operation, "create a batch queue first").state;
}

} // namespace barmap
