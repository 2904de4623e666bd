// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/report.hpp>

#include <optional>

/// Facts about this machine that need no cuInit, which would keep children that are forked later
/// from using CUDA.
namespace barmap::gdrapi {

/// Whether somebody has called cuInit in this process; also false where there is no CUDA.
[[nodiscard]] bool cuda_is_initialised();

/// The properties that gdrdrv reports, if it is used.
struct kernel_module {
    module_version version;
    bool persistent = true;
    bool forces_pcie = true;
};

/// gdrdrv, if it is there and can be opened.
[[nodiscard]] std::optional<kernel_module> find_kernel_module() noexcept;

/// Looks for the CUDA driver and a GPU that this process may open. It cannot say whether a backend
/// reaches that GPU's memory. @throws error if one of them is missing
void expect_gpu();

} // namespace barmap::gdrapi
