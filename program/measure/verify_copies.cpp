// SPDX-License-Identifier: MIT
#include "measure/verify_copies.hpp"

#include "measure/pattern.hpp"
#include "output/formatted.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace barmap::tool {
namespace {

constexpr std::byte left_alone{0xc5};

std::optional<std::string> compare(std::span<std::byte const> found,
                                   std::span<std::byte const> expected, std::string_view where,
                                   std::string_view who) {
    if (std::memcmp(found.data(), expected.data(), found.size()) == 0)
        return std::nullopt;
    auto const wrong = std::mismatch(found.begin(), found.end(), expected.begin());
    return formatted("{}: byte {} {} is wrong", who, wrong.first - found.begin(), where);
}

} // namespace

std::size_t random_length(unsigned most, std::mt19937_64& random) {
    return 1 + random() % (std::size_t{1} << random() % (most + 1));
}

std::vector<copy_place> random_places(std::size_t room, std::size_t most_pieces,
                                      std::mt19937_64& random,
                                      std::function<std::size_t()> const& length) {
    constexpr std::size_t widest_gap = 64;
    auto const gap = [&] { return 1 + random() % widest_gap; };
    std::vector<copy_place> places;
    for (std::size_t at = gap(); at < room && places.size() < most_pieces; at += gap()) {
        places.push_back({at, 0, std::min(length(), room - at)});
        at += places.back().bytes;
    }
    std::shuffle(places.begin(), places.end(), random);
    std::size_t at = gap();
    for (copy_place& each : places) {
        each.host = at;
        at += each.bytes + gap();
    }
    // The gaps differ on either side: what does not fit any more is left out.
    std::erase_if(places, [&](copy_place const& each) { return each.host + each.bytes > room; });
    return places;
}

copier copier_through(mapping const& gpu, std::span<std::byte> host, std::size_t offset) {
    return [&gpu, host, offset](copy_direction way, std::span<copy_place const> places) {
        for (copy_place const& each : places) {
            std::span<std::byte> const bytes = host.subspan(each.host, each.bytes);
            way == copy_direction::to_gpu ? gpu.copy_to_gpu(offset + each.gpu, bytes)
                                          : gpu.copy_to_cpu(bytes, offset + each.gpu);
        }
    };
}

std::optional<std::string> verify_copies(gpu_access const& gpu, std::span<std::byte> host,
                                         copier const& copy, std::uint64_t seed) {
    constexpr int rounds = 3;
    std::size_t const bytes = host.size();
    std::mt19937_64 random(seed);
    std::vector<std::byte> expected(bytes), content(bytes);
    for (int round = 0; round < rounds; ++round) {
        std::size_t next = 5 * MiB / 2 + 7; // more than fits into staging memory
        std::vector<copy_place> const places = random_places(
            bytes, bytes, random, [&] { return std::exchange(next, random_length(20, random)); });
        std::memset(expected.data(), static_cast<int>(left_alone), bytes);
        gpu.write(expected);
        fill_pattern(host, random(), 0);
        for (copy_place const& each : places)
            std::memcpy(&expected[each.gpu], &host[each.host], each.bytes);
        copy(copy_direction::to_gpu, places);
        gpu.read(content);
        if (auto problem = compare(content, expected, "of the GPU memory", "copied to the GPU"))
            return problem;

        fill_pattern(content, random(), 0);
        gpu.write(content);
        std::memset(host.data(), static_cast<int>(left_alone), bytes);
        std::memset(expected.data(), static_cast<int>(left_alone), bytes);
        for (copy_place const& each : places)
            std::memcpy(&expected[each.host], &content[each.gpu], each.bytes);
        copy(copy_direction::to_cpu, places);
        if (auto problem = compare(host, expected, "of the host memory", "copied to the CPU"))
            return problem;
    }
    return std::nullopt;
}

} // namespace barmap::tool
