// SPDX-License-Identifier: MIT
#include "bench/verify_copies.hpp"

#include "bench/pattern.hpp"
#include "output/formatted.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

namespace barmap::tool {
namespace {

constexpr std::byte left_alone{0xc5};

/// Pieces of every order of magnitude at odd places, in another order on either side, with bytes
/// between them that must not change.
std::vector<place> random_places(std::size_t bytes, std::mt19937_64& random) {
    constexpr unsigned magnitudes = 20;
    constexpr std::size_t narrowest_gap = 16, gaps = 64;
    constexpr std::size_t long_one = 5 * MiB / 2 + 7; // more than fits into staging memory
    std::vector<place> places;
    for (std::size_t at = narrowest_gap; at < bytes;) {
        std::size_t const any = 1 + random() % (std::size_t{1} << random() % (magnitudes + 1));
        std::size_t const length = std::min(places.empty() ? long_one : any, bytes - at);
        places.push_back({at, 0, length});
        at += length + narrowest_gap + random() % gaps;
    }
    std::shuffle(places.begin(), places.end(), random);
    std::size_t at = narrowest_gap;
    for (place& each : places) {
        each.host = at;
        at += each.bytes + narrowest_gap + random() % gaps;
    }
    // The gaps differ on either side: what does not fit any more is left out.
    std::erase_if(places, [&](place const& each) { return each.host + each.bytes > bytes; });
    return places;
}

std::optional<std::string> compare(std::span<std::byte const> found,
                                   std::span<std::byte const> expected, std::string_view where,
                                   std::string_view who) {
    if (std::memcmp(found.data(), expected.data(), found.size()) == 0)
        return std::nullopt;
    auto const wrong = std::mismatch(found.begin(), found.end(), expected.begin());
    return formatted("{}: byte {} {} is wrong", who, wrong.first - found.begin(), where);
}

} // namespace

std::optional<std::string> verify_copies(gpu_access const& gpu, std::span<std::byte> host,
                                         copier const& copy, std::uint64_t seed) {
    constexpr int rounds = 3;
    std::size_t const bytes = host.size();
    std::mt19937_64 random(seed);
    std::vector<std::byte> expected(bytes), content(bytes);
    for (int round = 0; round < rounds; ++round) {
        std::vector<place> const places = random_places(bytes, random);
        std::memset(expected.data(), static_cast<int>(left_alone), bytes);
        gpu.write(expected);
        fill_pattern(host, random(), 0);
        for (place const& each : places)
            std::memcpy(&expected[each.gpu], &host[each.host], each.bytes);
        copy(engine::direction::to_gpu, places);
        gpu.read(content);
        if (auto problem = compare(content, expected, "of the GPU memory", "copied to the GPU"))
            return problem;

        fill_pattern(content, random(), 0);
        gpu.write(content);
        std::memset(host.data(), static_cast<int>(left_alone), bytes);
        std::memset(expected.data(), static_cast<int>(left_alone), bytes);
        for (place const& each : places)
            std::memcpy(&expected[each.host], &content[each.gpu], each.bytes);
        copy(engine::direction::to_cpu, places);
        if (auto problem = compare(host, expected, "of the host memory", "copied to the CPU"))
            return problem;
    }
    return std::nullopt;
}

} // namespace barmap::tool
