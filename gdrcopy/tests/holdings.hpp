// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

namespace barmap::dropin {

/// What the process holds that a clean-up brings back to where it was.
struct holdings {
    long files = 0;          ///< /proc/self/fd
    long mappings = 0;       ///< lines of /proc/self/maps that show GPU memory
    long driver_objects = 0; ///< barmap_sim_live(), where the GPU is simulated

    bool operator==(holdings const&) const = default;

    [[nodiscard]] static holdings now() {
        holdings held;
        for (auto const& each : std::filesystem::directory_iterator("/proc/self/fd")) {
            (void)each;
            ++held.files;
        }
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);)
            held.mappings += line.find("barmap simulated GPU") != line.npos ||
                             line.find("/dev/nvidia") != line.npos ||
                             line.find("dmabuf") != line.npos;
        if (void* const live = of_the_simulation("barmap_sim_live"))
            held.driver_objects = static_cast<long>(reinterpret_cast<std::size_t (*)()>(live)());
        return held;
    }

    /// What the simulated GPU answers beside the driver's interface, or null on a real one.
    [[nodiscard]] static void* of_the_simulation(char const* name) {
        static void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW);
        return driver ? ::dlsym(driver, name) : nullptr;
    }

    friend std::ostream& operator<<(std::ostream& out, holdings const& held) {
        return out << held.files << " files, " << held.mappings << " mappings of GPU memory, "
                   << held.driver_objects << " driver objects";
    }
};

} // namespace barmap::dropin
