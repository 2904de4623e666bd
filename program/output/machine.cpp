// SPDX-License-Identifier: MIT
#include "output/machine.hpp"

#include "output/units.hpp"

#include <fstream>
#include <sstream>
#include <sys/utsname.h>

namespace barmap::tool {

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        // x86 says "model name", ppc64le "cpu"; arm64 says neither.
        if (line.rfind("model name", 0) != 0 && line.rfind("cpu\t", 0) != 0)
            continue;
        std::size_t const colon = line.find(": ");
        if (colon != std::string::npos)
            return line.substr(colon + 2);
    }
    utsname system{};
    uname(&system);
    return system.machine;
}

std::string kernel_release() {
    utsname system{};
    uname(&system);
    return system.release;
}

std::string kernel_driver_version() {
    // "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build ..."
    std::ifstream file("/proc/driver/nvidia/version");
    std::string line;
    std::getline(file, line);
    std::istringstream words(line);
    for (std::string word; words >> word;)
        if (word.find_first_not_of("0123456789.") == std::string::npos &&
            word.find('.') != std::string::npos)
            return word;
    return {};
}

json describe_machine(device const* gpu, std::string_view backend) {
    json machine;
    machine["cpu"] = cpu_model();
    machine["kernel"] = kernel_release();
    machine["gpu"] = gpu ? json(gpu->name()) : json(nullptr);
    machine["pci"] = gpu ? json(gpu->pci_address()) : json(nullptr);
    machine["driver"] = gpu ? json(cuda_version_text(gpu->driver_version())) : json(nullptr);
    machine["kernel_driver"] = or_null(kernel_driver_version());
    machine["backend"] = or_null(backend);
    machine["simulated"] = gpu && gpu->simulated();
    return machine;
}

} // namespace barmap::tool
