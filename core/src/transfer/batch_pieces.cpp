// SPDX-License-Identifier: MIT
#include "transfer/batch_pieces.hpp"

#include "base/policy.hpp"
#include "cuda/driver_api.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

namespace barmap {
namespace {

using cuda::memory_side;

bool is_inside(std::uint64_t begin, std::size_t bytes) noexcept {
    return begin != 0 && begin < end_of_addresses && bytes <= end_of_addresses - begin;
}

bool is_good(copy_piece const& each) noexcept {
    return each.bytes == 0 || (is_inside(each.to, each.bytes) && is_inside(each.from, each.bytes));
}

[[noreturn]] void refuse(std::size_t piece, errc why, std::string advice) {
    throw error(why, "copy piece " + std::to_string(piece) + " of a batch", "", std::move(advice),
                piece);
}

std::string hexadecimal(std::uint64_t value) {
    char digits[16];
    auto const end = std::to_chars(digits, digits + sizeof digits, value, 16);
    return "0x" + std::string(digits, end.ptr);
}

/// One side of a piece, for a refusal.
std::string named(char const* side, std::uint64_t at) {
    return std::string("`") + side + "`, " + hexadecimal(at);
}

/// @pre it is not good
[[noreturn]] void refuse_addresses(std::size_t piece, copy_piece const& bad) {
    bool const is_to = !is_inside(bad.to, bad.bytes);
    std::uint64_t const at = is_to ? bad.to : bad.from;
    char const* const side = is_to ? "to" : "from";
    refuse(piece, errc::invalid_argument,
           (at == 0 ? "its `" + std::string(side) + "` is null"
                    : "its " + std::to_string(bad.bytes) + " bytes at " + named(side, at) +
                          ", do not lie in the 57 bits of a GPU address") +
               ": give the address as CUDA knows it, and the size in bytes");
}

[[noreturn]] void refuse_apart(std::size_t piece, char const* side, std::uint64_t at, int ordinal,
                               CUdevice gpu) {
    int can = 1;
    (void)cuda::api().device_can_access_peer(&can, gpu, ordinal);
    std::string const from = "GPU " + std::to_string(gpu), other = "GPU " + std::to_string(ordinal);
    refuse(piece, errc::wrong_device,
           "its " + named(side, at) + ", is memory of " + other + ", which is not mapped for " +
               from + ": " +
               (can != 0 ? "with " + from + " current, call cudaDeviceEnablePeerAccess for " +
                               other + "; for memory of cuMemCreate or of a pool, cuMemSetAccess " +
                               "or cudaMemPoolSetAccess for " + from
                         : "these two GPUs cannot access each other's memory: copy by pinned host "
                           "memory, or set BARMAP_ENGINE=driver, whose copies do so"));
}

void expect_side_known(std::size_t piece, char const* side, std::uint64_t at, std::size_t bytes,
                       cuda::address_ranges& asked, cuda::address_range& latest) {
    std::uint64_t const last = at + (bytes - 1);
    if (latest.holds(at) && latest.holds(last))
        return;
    latest = asked.find(at);
    if (latest.side == memory_side::unknown)
        refuse(piece, errc::unsupported_memory,
               "CUDA knows no live allocation at its " + named(side, at) +
                   ": give memory of this GPU, or host memory from cudaMallocHost or "
                   "cudaHostRegister, and free it after the copy");
    if (!latest.holds(last))
        refuse(piece, errc::out_of_range,
               "its " + std::to_string(bytes) + " bytes at " + named(side, at) +
                   ", reach beyond the allocation, which ends at " +
                   hexadecimal(latest.begin + latest.bytes) + ": give a smaller piece");
}

void expect_side_reachable(std::size_t piece, char const* side, std::uint64_t at,
                           cuda::address_ranges& known, cuda::address_range& latest) {
    if (latest.holds(at))
        return;
    latest = known.find(at);
    if (latest.side == memory_side::apart)
        refuse_apart(piece, side, at, latest.ordinal, known.gpu());
}

/// As host memory and the GPU's own do.
bool is_of_a_gpu(cuda::address_range const& which) noexcept {
    return which.side == memory_side::gpu || which.side == memory_side::peer ||
           which.side == memory_side::apart;
}

bool differ(cuda::address_range const& one, cuda::address_range const& other) noexcept {
    return (one.side == memory_side::host && other.side == memory_side::gpu) ||
           (one.side == memory_side::gpu && other.side == memory_side::host);
}

} // namespace

piece_totals check(std::span<copy_piece const> pieces) {
    piece_totals const totals = total(pieces);
    if (totals.may_be_bad)
        if (auto const bad = std::ranges::find_if_not(pieces, is_good); bad != pieces.end())
            refuse_addresses(static_cast<std::size_t>(bad - pieces.begin()), *bad);
    return totals;
}

std::vector<copy_piece> plain(std::span<copy_piece const> pieces) {
    std::vector<copy_piece> result;
    for (copy_piece each : pieces)
        while (each.bytes != 0) {
            std::size_t const some = std::min(each.bytes, engine::most_piece_bytes);
            result.push_back({each.to, each.from, some});
            each = {each.to + some, each.from + some, each.bytes - some};
        }
    return result;
}

engine::direction way_of(std::span<copy_piece const> pieces, cuda::address_ranges& known) {
    auto const first =
        std::ranges::find_if(pieces, [](copy_piece const& each) { return each.bytes != 0; });
    if (first == pieces.end())
        return engine::direction::to_cpu;
    cuda::address_range from = known.find(first->from), to = known.find(first->to);
    if (!differ(from, to) && !(from.is_settled && to.is_settled)) {
        to = known.find_again(first->to);
        from = known.find_again(first->from);
        if (!differ(from, to)) {
            known.settle(first->to);
            known.settle(first->from);
        }
    }
    if (is_of_a_gpu(from) && is_of_a_gpu(to))
        return engine::direction::among_gpus;
    return from.side == memory_side::host && to.side != memory_side::host
               ? engine::direction::to_gpu
               : engine::direction::to_cpu;
}

void expect_reachable(std::span<copy_piece const> pieces, cuda::address_ranges& known) {
    if (!cuda::has_several_gpus())
        return;
    constexpr std::size_t most = policy::checked_pieces;
    std::size_t const step = (pieces.size() + most - 1) / most;
    cuda::address_range to, from;
    for (std::size_t i = 0; i < pieces.size(); i += step) {
        if (pieces[i].bytes == 0)
            continue;
        expect_side_reachable(i, "to", pieces[i].to, known, to);
        expect_side_reachable(i, "from", pieces[i].from, known, from);
    }
}

void expect_known(std::span<copy_piece const> pieces, cuda::address_ranges& asked) {
    cuda::address_range to, from;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        copy_piece const& each = pieces[i];
        if (each.bytes == 0)
            continue;
        expect_side_known(i, "to", each.to, each.bytes, asked, to);
        expect_side_known(i, "from", each.from, each.bytes, asked, from);
    }
}

bool suit_cuda(std::span<copy_piece const> pieces, cuda::address_ranges& asked) {
    auto const suits = [&](std::uint64_t at, std::size_t bytes) {
        cuda::address_range const its = asked.find(at);
        return its.side != memory_side::unknown && its.side != memory_side::apart &&
               its.holds(at + (bytes - 1));
    };
    return std::ranges::all_of(pieces, [&](copy_piece const& each) {
        return each.bytes == 0 || (suits(each.to, each.bytes) && suits(each.from, each.bytes));
    });
}

} // namespace barmap
