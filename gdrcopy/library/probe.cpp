// SPDX-License-Identifier: MIT
#include "probe.hpp"

#include "boundary.hpp"

#include "nvidia/cuda.hpp"
#include "system/calls.hpp"
#include "system/environment.hpp"
#include "system/fd.hpp"
#include "system/library.hpp"

#include <barmap/report.hpp>

#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace barmap::gdrapi {
namespace {

bool is_simulated() {
    return setting("BARMAP_SIM") == "1";
}

/// The CUDA driver, or nothing, with the loader's words in `why`.
os::library cuda_driver(std::string& why) {
    std::vector<std::string> names;
    for (std::size_t i = 0; char const* const name = barmap_driver_file(i); ++i)
        names.emplace_back(name);
    return os::library::open(names, why);
}

bool can_open_a_gpu() {
    constexpr int most_gpus = 64;
    for (int i = 0; i < most_gpus; ++i)
        if (os::current().access(("/dev/nvidia" + std::to_string(i)).c_str(), R_OK | W_OK) == 0)
            return true;
    return false;
}

/// Whether CUDA_VISIBLE_DEVICES begins with something that is no GPU, which hides all.
bool all_are_hidden() {
    char const* const visible = os::environment("CUDA_VISIBLE_DEVICES");
    return visible && (*visible == '\0' || *visible == '-');
}

[[noreturn]] void refuse(std::string const& why) {
    throw error(errc::no_device, "find a GPU", "", why + ": see `barmap info`");
}

} // namespace

bool cuda_is_initialised() {
    std::string why;
    os::library driver = cuda_driver(why);
    auto const get_current =
        reinterpret_cast<CUresult (*)(CUcontext*)>(driver.symbol("cuCtxGetCurrent"));
    CUcontext current = nullptr;
    bool const initialised = get_current && get_current(&current) != cuda::error_not_initialized;
    driver.abandon(); // the core loads it again
    return initialised;
}

std::optional<kernel_module> find_kernel_module() noexcept {
    if (is_simulated()) // no simulated GPU has one
        return std::nullopt;
    try {
        backend_properties const properties = barmap::kernel_module();
        return kernel_module{properties.module.value(), properties.persistent,
                             properties.forces_pcie};
    } catch (std::exception const& failure) {
        log(severity::debug, failure.what());
        return std::nullopt;
    }
}

void expect_gpu() {
    std::string why;
    os::library driver = cuda_driver(why);
    if (!driver)
        refuse("the CUDA driver cannot be loaded: " + why);
    driver.abandon();
    if (all_are_hidden())
        refuse("CUDA_VISIBLE_DEVICES hides every GPU");
    if (is_simulated())
        return;
    (void)os::open_file("/dev/nvidiactl", O_RDWR);
    if (!can_open_a_gpu())
        refuse("no /dev/nvidia0, /dev/nvidia1, ... can be opened");
}

} // namespace barmap::gdrapi
