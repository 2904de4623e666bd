// SPDX-License-Identifier: MIT
#include "batch_pieces.hpp"

#include "engine/engine.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace barmap {
namespace {

using cuda::memory_side;

constexpr std::uint64_t end_of_addresses = std::uint64_t{1} << 57;

bool is_good(copy_piece const& each) noexcept {
    auto const is_inside = [&](std::uint64_t begin) {
        return begin != 0 && begin < end_of_addresses && each.bytes <= end_of_addresses - begin;
    };
    return each.bytes == 0 || (is_inside(each.gpu) && is_inside(each.host));
}

[[noreturn]] void refuse(std::size_t piece, errc why, std::string advice) {
    throw error(why, "copy piece " + std::to_string(piece) + " of a batch", "", std::move(advice));
}

std::string hexadecimal(std::uint64_t value) {
    char digits[16];
    auto const end = std::to_chars(digits, digits + sizeof digits, value, 16);
    return "0x" + std::string(digits, end.ptr);
}

/// One side of pieces.
struct side {
    std::uintptr_t copy_piece::*address;
    memory_side wanted;
    std::string_view name, what, how; ///< "gpu", what it is to be, how to get that

    [[nodiscard]] bool is_exchanged(memory_side found) const noexcept {
        return found != wanted && found != memory_side::both && found != memory_side::unknown;
    }
    [[noreturn]] void refuse_exchanged(std::size_t piece, std::uint64_t at) const {
        refuse(piece, errc::invalid_argument,
               "its `" + std::string(name) + "`, " + hexadecimal(at) + ", is " +
                   (wanted == memory_side::gpu ? "host" : "GPU") + " memory and has to be " +
                   std::string(what) + ": are the two addresses exchanged?");
    }
    [[noreturn]] void refuse_unknown(std::size_t piece, std::uint64_t at) const {
        refuse(piece, errc::unsupported_memory,
               "CUDA knows no live allocation at its `" + std::string(name) + "`, " +
                   hexadecimal(at) + ": give " + std::string(what) + ", " + std::string(how));
    }
    [[noreturn]] void refuse_end(std::size_t piece, copy_piece const& which,
                                 cuda::address_range const& range) const {
        refuse(piece, errc::out_of_range,
               "its " + std::to_string(which.bytes) + " bytes at `" + std::string(name) + "`, " +
                   hexadecimal(which.*address) + ", reach beyond the allocation, which ends at " +
                   hexadecimal(range.begin + range.bytes));
    }
};

constexpr side gpu_side{&copy_piece::gpu, memory_side::gpu, "gpu", "memory of this GPU",
                        "which is not freed before the copy is done"};
constexpr side host_side{&copy_piece::host, memory_side::host, "host", "pinned host memory",
                         "from cudaMallocHost or cudaHostRegister"};

} // namespace

checked_pieces check(std::span<copy_piece const> pieces, known_memory const& known) {
    // A list of thousands is checked before its first piece is copied. Both words stay small where
    // every piece is good and plain: 0 less 1, and what wraps around, has high bits.
    checked_pieces result;
    std::uint64_t addresses = 0, sizes = 0;
    cuda::address_range const gpu = known.gpu, host = known.host;
    for (copy_piece const& each : pieces) {
        std::uint64_t const more = each.bytes - 1;
        addresses |= (each.gpu - 1) | (each.host - 1) | (each.gpu + more) | (each.host + more);
        sizes |= more;
        result.bytes += each.bytes;
        result.are_known &= gpu.holds(each.gpu) & host.holds(each.host);
    }
    static_assert(std::has_single_bit(engine::most_piece_bytes));
    result.are_plain = sizes < engine::most_piece_bytes;
    if (addresses < end_of_addresses && result.are_plain)
        return result;
    auto const bad = std::ranges::find_if_not(pieces, is_good);
    if (bad != pieces.end())
        refuse(static_cast<std::size_t>(bad - pieces.begin()), errc::invalid_argument,
               bad->gpu == 0 || bad->host == 0
                   ? "one of its addresses is null: give both, as CUDA knows them"
                   : "it does not lie in the 57 bits of a GPU address: see its address and size");
    return result;
}

std::vector<copy_piece> plain(std::span<copy_piece const> pieces) {
    std::vector<copy_piece> result;
    for (copy_piece each : pieces)
        while (each.bytes != 0) {
            std::size_t const some = std::min(each.bytes, engine::most_piece_bytes);
            result.push_back({each.gpu, each.host, some});
            each = {each.gpu + some, each.host + some, each.bytes - some};
        }
    return result;
}

void expect_sides(std::span<copy_piece const> pieces, known_memory& known) {
    // Pieces beside each other in the list mostly lie in the same allocation.
    cuda::address_range gpu, host;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (gpu.holds(pieces[i].gpu) && host.holds(pieces[i].host))
            continue;
        if (pieces[i].bytes == 0)
            continue;
        for (auto const& [which, range] : {std::pair(&gpu_side, &gpu), {&host_side, &host}}) {
            std::uint64_t const at = pieces[i].*which->address;
            *range = known.all.find(at);
            if (i == 0 && which->is_exchanged(range->side)) // or something else was there before
                *range = known.all.find_again(at);
            if (i == 0 && which->is_exchanged(range->side)) // later ones may go the other way
                which->refuse_exchanged(i, at);
        }
    }
    known.gpu = gpu;
    known.host = host;
}

void expect_known(std::span<copy_piece const> pieces) {
    cuda::address_ranges asked; // of this batch alone: what is freed is unknown
    cuda::address_range gpu, host;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        copy_piece const& piece = pieces[i];
        if (piece.bytes == 0)
            continue;
        for (auto const& [which, range] : {std::pair(&gpu_side, &gpu), {&host_side, &host}}) {
            std::uint64_t const at = piece.*which->address, last = at + (piece.bytes - 1);
            if (range->holds(at) && range->holds(last))
                continue;
            *range = asked.find(at);
            if (range->side == memory_side::unknown)
                which->refuse_unknown(i, at);
            if (i == 0 && which->is_exchanged(range->side)) // later ones may go the other way
                which->refuse_exchanged(i, at);
            if (!range->holds(last))
                which->refuse_end(i, piece, *range);
        }
    }
}

} // namespace barmap
