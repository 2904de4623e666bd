// SPDX-License-Identifier: MIT
#pragma once

#include <barmap/device.hpp>
#include <barmap/report.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace barmap::tool {

/// The methods that copy by one backend's mappings.
struct found_crossovers {
    std::string backend;
    std::vector<copy_crossover> crossovers;
    std::string problem; ///< why there are none
};

/// Whether kernels can submit copies, and how, or why not.
struct kernel_copies {
    bool usable = false;
    std::string reason;
};

/// The findings of `barmap info` about one GPU.
struct found_gpu {
    int ordinal = 0;
    std::string name, pci;
    bool simulated = false;
    int driver = 0; ///< as CUDA numbers its versions: 13000
    bar1_info bar1;
    std::vector<backend_report> backends;
    std::vector<engine_report> engines;
    std::vector<engine_report>
        batches; ///< the first engine for batches that works, after those that do not
    kernel_copies kernels;
    std::vector<found_crossovers> copies; ///< of the usable backends
    std::vector<std::string> problems;    ///< why something was not found out
};

/// The texts that are the same for all GPUs.
struct found_machine {
    std::string cpu;           ///< and the kernel
    std::string kernel_driver; ///< its version, or nothing
    std::vector<setting_report> variables;
};

/// `barmap info` at a glance. The first line says whether cudaMalloc memory can be mapped. Then
/// come about eight lines for one GPU; a further GPU has one line if it is as the first, else five.
/// @param why_none if there are no GPUs, the reason and the advice
[[nodiscard]] std::string summary_of(found_machine const& machine,
                                     std::vector<found_gpu> const& gpus,
                                     std::string const& why_none);

/// Where barmap's knowledge of the structures of a kernel driver comes from; "unknown" without a
/// version.
[[nodiscard]] std::string describe_series(std::string_view version);

} // namespace barmap::tool
