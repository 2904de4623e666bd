// SPDX-License-Identifier: MIT
#include "check/check.hpp"
#include "output/formatted.hpp"

#include "measure/pattern.hpp"
#include "output/units.hpp"

#include <barmap/copy.hpp>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

namespace barmap::tool {
namespace {

constexpr std::size_t piece_size = 4 * MiB; ///< a multiple of 8, as patterns want
constexpr unsigned char canary = 0xc5;
constexpr std::size_t canary_reach = 64 * KiB; ///< how far around the range it is looked at

/// Calls work(offset, length) for each piece of a range.
template <class Work>
void in_pieces(std::size_t bytes, Work&& work) {
    for (std::size_t at = 0; at < bytes; at += piece_size)
        work(at, std::min(piece_size, bytes - at));
}

/// Reads a range piece by piece with `get` and compares it with a pattern.
template <class Get>
std::optional<std::string> compare(std::size_t bytes, std::uint64_t seed, std::string_view what,
                                   Get&& get) {
    std::vector<std::byte> buffer(std::min(piece_size, bytes));
    std::optional<std::string> problem;
    in_pieces(bytes, [&](std::size_t at, std::size_t length) {
        if (problem)
            return;
        std::span<std::byte> const piece = std::span(buffer).first(length);
        get(piece, at);
        if (auto const wrong = first_difference(piece, seed, at))
            problem = formatted("{}: byte {} of {} is wrong", what, at + *wrong, bytes);
    });
    return problem;
}

std::optional<std::string> look_at_canaries(CUdeviceptr from, std::size_t bytes,
                                            std::string_view where) {
    std::vector<std::byte> around(bytes);
    if (bytes == 0)
        return std::nullopt;
    read_gpu(around, from);
    bool const intact = std::all_of(around.begin(), around.end(),
                                    [](std::byte byte) { return byte == std::byte{canary}; });
    return intact ? std::nullopt
                  : std::optional(formatted("bytes {} the mapped range were changed", where));
}

/// Small transfers at random places, whose sizes and alignments the big pieces do not have.
std::optional<std::string> verify_small(CUdeviceptr address, mapping const& through,
                                        std::uint64_t seed) {
    constexpr int transfers = 256;
    constexpr std::size_t longest = 300;
    std::mt19937_64 random(seed);
    std::vector<std::byte> buffer(longest);
    for (int i = 0; i < transfers; ++i) {
        // Patterns start at multiples of 8 of the range; its own address need not be one.
        std::size_t const at = random() % through.size() / 8 * 8;
        std::size_t const length =
            std::min<std::size_t>(1 + random() % longest, through.size() - at);
        std::span<std::byte> const piece = std::span(buffer).first(length);
        std::uint64_t const new_seed = seed + 1 + static_cast<std::uint64_t>(i);
        fill_pattern(piece, new_seed, at);
        write(through.window(at, length), piece);
        std::fill(piece.begin(), piece.end(), std::byte{0});
        read_gpu(piece, address + at);
        if (first_difference(piece, new_seed, at))
            return formatted("a write of {} bytes at {} came out wrong", length, at);
        std::fill(piece.begin(), piece.end(), std::byte{0});
        read(piece, through.window(at, length));
        if (first_difference(piece, new_seed, at))
            return formatted("a read of {} bytes at {} came out wrong", length, at);
    }
    return std::nullopt;
}

} // namespace

void fill_by_driver(CUdeviceptr address, std::size_t bytes, std::uint64_t seed) {
    std::vector<std::byte> buffer(std::min(piece_size, bytes));
    in_pieces(bytes, [&](std::size_t at, std::size_t length) {
        std::span<std::byte> const piece = std::span(buffer).first(length);
        fill_pattern(piece, seed, at);
        write_gpu(address + at, piece);
    });
}

void write_through(mapping const& through, std::uint64_t seed) {
    std::vector<std::byte> buffer(std::min(piece_size, through.size()));
    in_pieces(through.size(), [&](std::size_t at, std::size_t length) {
        std::span<std::byte> const piece = std::span(buffer).first(length);
        fill_pattern(piece, seed, at);
        write(through.window(at, length), piece);
    });
}

std::optional<std::string> verify_by_cpu(mapping const& through, std::uint64_t seed) {
    return compare(through.size(), seed, "read through the mapping",
                   [&](std::span<std::byte> piece, std::size_t at) {
                       read(piece, through.window(at, piece.size()));
                   });
}

std::optional<std::string> verify_by_driver(CUdeviceptr address, std::size_t bytes,
                                            std::uint64_t seed) {
    return compare(
        bytes, seed, "written through the mapping",
        [&](std::span<std::byte> piece, std::size_t at) { read_gpu(piece, address + at); });
}

std::optional<std::string> verify(checked_range const& range, mapping const& through,
                                  std::uint64_t seed) {
    fill_gpu(range.start, canary, range.size);
    fill_by_driver(range.address(), range.length, seed);
    if (auto problem = verify_by_cpu(through, seed))
        return problem;
    write_through(through, seed + 1);
    if (auto problem = verify_by_driver(range.address(), range.length, seed + 1))
        return problem;
    if (auto problem = verify_small(range.address(), through, seed + 2))
        return problem;
    std::size_t const before = std::min(range.offset, canary_reach);
    if (auto problem = look_at_canaries(range.address() - before, before, "before"))
        return problem;
    std::size_t const rest = range.size - range.offset - range.length;
    return look_at_canaries(range.address() + range.length, std::min(rest, canary_reach), "after");
}

} // namespace barmap::tool
