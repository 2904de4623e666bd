// SPDX-License-Identifier: MIT
#include "output/units.hpp"

#include "output/formatted.hpp"

#include <charconv>

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

std::string_view name_of(copy_direction way) {
    return way == copy_direction::to_gpu ? "h2d" : "d2h";
}

std::optional<std::size_t> parse_size(std::string_view text) {
    constexpr std::size_t most = std::size_t{1} << 48;
    std::size_t value = 0;
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc())
        return std::nullopt;
    std::string unit;
    for (char const letter : text.substr(static_cast<std::size_t>(end - text.data())))
        unit += static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
    constexpr std::string_view powers = "bkmgt";
    std::size_t const power = unit.empty() ? 0 : powers.find(unit.front());
    if (power == powers.npos)
        return std::nullopt;
    std::string_view const rest = std::string_view(unit).substr(unit.empty() ? 0 : 1);
    if (!rest.empty() && (power == 0 || (rest != "b" && rest != "ib")))
        return std::nullopt;
    if (value == 0 || value > (most >> (10 * power)))
        return std::nullopt;
    return value << (10 * power);
}

double gigabytes_per_second(std::size_t bytes, double nanoseconds) {
    return nanoseconds > 0 ? double(bytes) / nanoseconds : 0;
}

} // namespace barmap::tool
