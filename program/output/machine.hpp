// SPDX-License-Identifier: MIT
#pragma once

#include "output/timing.hpp"

#include <barmap/device.hpp>

#include <string>
#include <string_view>

namespace barmap::tool {

[[nodiscard]] std::string cpu_model();
[[nodiscard]] std::string kernel_release();
/// Version of NVIDIA's kernel driver, for example "580.159.04"; empty where it is not loaded.
[[nodiscard]] std::string kernel_driver_version();

/// The "machine" part of every JSON result. @param gpu null where there is none
[[nodiscard]] json describe_machine(device const* gpu, std::string_view backend);

} // namespace barmap::tool
