// SPDX-License-Identifier: MIT
#include "units.hpp"

#include "formatted.hpp"

namespace barmap::tool {

std::string size_text(std::size_t bytes) {
    struct unit {
        std::size_t size;
        char const* name;
    };
    for (unit const u : {unit{GiB, "GiB"}, unit{MiB, "MiB"}, unit{KiB, "KiB"}}) {
        if (bytes >= u.size)
            return bytes % u.size == 0
                       ? formatted("{} {}", bytes / u.size, u.name)
                       : formatted("{:.1f} {}", double(bytes) / double(u.size), u.name);
    }
    return formatted("{} B", bytes);
}

std::string microseconds(double nanoseconds) {
    double const us = nanoseconds / 1000;
    if (us < 10)
        return formatted("{:.3f}", us);
    return us < 100 ? formatted("{:.1f}", us) : formatted("{:.0f}", us);
}

std::string cuda_version_text(int api_version) {
    return formatted("{}.{}", api_version / 1000, api_version % 1000 / 10);
}

double gigabytes_per_second(std::size_t bytes, double nanoseconds) {
    return nanoseconds > 0 ? double(bytes) / nanoseconds : 0;
}

} // namespace barmap::tool
