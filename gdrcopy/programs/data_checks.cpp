// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/data_checks.hpp"

#include "measure/pattern.hpp"
#include "output/formatted.hpp"

#include <barmap/copy.hpp>

#include <algorithm>
#include <cstring>

namespace barmap::tool::gdrcopy {
namespace {

constexpr unsigned char untouched = 0xA5;

} // namespace

data_checks::data_checks(gpu_buffer const& buffer, mapped_range const& range)
    : buffer_(buffer), range_(range), source_(buffer.size()), target_(buffer.size()) {}

void data_checks::prepare(std::uint64_t seed) {
    fill_pattern(source_, seed, 0);
    std::fill(target_.begin(), target_.end(), std::byte{untouched});
    buffer_.fill(untouched);
}

std::optional<std::string> data_checks::by_driver(std::size_t map_at, std::size_t host_at) {
    std::vector<std::byte> found(buffer_.size());
    read_gpu(found, buffer_.address());
    std::size_t const bytes = buffer_.size() - std::max(map_at, host_at);
    for (std::size_t i = 0; i < found.size(); ++i) {
        bool const written = i >= map_at && i < map_at + bytes;
        std::byte const expected = written ? source_[host_at + i - map_at] : std::byte{untouched};
        if (found[i] != expected)
            return formatted("byte {} in GPU memory is {:#04x}, not {:#04x}", i, unsigned(found[i]),
                             unsigned(expected));
    }
    return std::nullopt;
}

std::optional<std::string> data_checks::direct_stores(std::uint64_t seed) {
    prepare(seed);
    std::memcpy(range_.data(), source_.data(), source_.size());
    flush_stores();
    return by_driver(0, 0);
}

std::optional<std::string> data_checks::copy_to_mapping(std::uint64_t seed) {
    prepare(seed);
    range_.write(0, source_.data(), source_.size());
    return by_driver(0, 0);
}

std::optional<std::string> data_checks::round_trip(std::size_t map_at, std::size_t host_at,
                                                   std::uint64_t seed) {
    prepare(seed);
    std::size_t const bytes = buffer_.size() - std::max(map_at, host_at);
    range_.write(map_at, source_.data() + host_at, bytes);
    range_.read(target_.data() + host_at, map_at, bytes);
    for (std::size_t i = 0; i < target_.size(); ++i) {
        bool const read = i >= host_at && i < host_at + bytes;
        std::byte const expected = read ? source_[i] : std::byte{untouched};
        if (target_[i] != expected)
            return formatted("byte {} that was read is {:#04x}, not {:#04x}", i,
                             unsigned(target_[i]), unsigned(expected));
    }
    return by_driver(map_at, host_at);
}

} // namespace barmap::tool::gdrcopy
