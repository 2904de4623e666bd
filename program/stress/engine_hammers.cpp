// SPDX-License-Identifier: MIT
#include "stress/engine_hammers.hpp"

#include "measure/pattern.hpp"
#include "output/units.hpp"

#include <barmap/copy.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <future>
#include <utility>

namespace barmap::tool {
namespace {

constexpr std::uint64_t report_every = 4096;

/// xorshift: the pieces must not wait for their sizes.
std::uint64_t step(std::uint64_t& state) noexcept {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

constexpr std::uint64_t first_state(std::uint64_t seed) noexcept {
    return (seed + 1) * 0x9E3779B97F4A7C15u | 1;
}

} // namespace

piece_hammer::piece_hammer(anvil const& at, std::uint64_t seed)
    : at_(at), source_(at.host.size() - at.gpu_bytes), random_(first_state(seed)),
      gpu_now_(at.gpu_bytes), host_now_(source_) {
    assert(at.host.size() >= host_bytes(at.gpu_bytes) && at.gpu_bytes > longest);
    std::fill_n(at_.host.begin(), source_, std::byte{0});
    // All of the GPU memory, so that its content is known.
    std::span<std::byte> const source = at_.host.subspan(source_);
    fill_pattern(source, seed, 0);
    std::copy(source.begin(), source.end(), gpu_now_.begin());
    places_.push_back({0, source_, at.gpu_bytes});
    at_.copy(copy_direction::to_gpu, places_);
}

std::uint64_t piece_hammer::next() noexcept {
    return step(random_);
}

/// Sizes of every order of magnitude are as likely as each other.
std::size_t piece_hammer::some_length() noexcept {
    std::uint64_t const random = next();
    constexpr auto magnitudes = static_cast<unsigned>(std::bit_width(longest));
    return 1 + ((random >> 8) & ((std::uint64_t{1} << random % magnitudes) - 1));
}

void piece_hammer::to_gpu(std::uint64_t round) {
    constexpr std::size_t widest_gap = 64;
    fill_pattern(at_.host.subspan(source_), random_ + round, 0);
    places_.clear();
    for (std::size_t at = next() % widest_gap; at < at_.gpu_bytes; at += next() % widest_gap) {
        std::size_t const length = std::min(some_length(), at_.gpu_bytes - at);
        std::size_t const from = source_ + next() % (at_.gpu_bytes - length + 1);
        std::memcpy(&gpu_now_[at], &at_.host[from], length);
        places_.push_back({at, from, length});
        at += length;
    }
    at_.copy(copy_direction::to_gpu, places_);
}

/// All of the GPU memory, in pieces that lie elsewhere and in another order on the host.
void piece_hammer::to_cpu() {
    constexpr std::size_t widest_gap = 64;
    places_.clear();
    for (std::size_t at = 0; at < at_.gpu_bytes; at += places_.back().bytes)
        places_.push_back({at, 0, std::min(some_length(), at_.gpu_bytes - at)});
    for (std::size_t i = places_.size() - 1; i > 0; --i)
        std::swap(places_[i], places_[next() % (i + 1)]);
    std::size_t used = 0, left = at_.gpu_bytes;
    for (copy_place& each : places_) {
        std::size_t const gap = next() % widest_gap;
        if (used + gap + left <= source_)
            used += gap;
        each.host = used;
        std::memcpy(&host_now_[used], &gpu_now_[each.gpu], each.bytes);
        used += each.bytes;
        left -= each.bytes;
    }
    at_.copy(copy_direction::to_cpu, places_);
    verify(std::min(used + widest_gap, source_));
}

void piece_hammer::verify(std::size_t used) {
    if (std::memcmp(at_.host.data(), host_now_.data(), used) == 0)
        return;
    std::uint64_t const before = wrong_;
    for (copy_place const& each : places_)
        wrong_ += std::memcmp(&at_.host[each.host], &host_now_[each.host], each.bytes) != 0;
    wrong_ += wrong_ == before; // none of the pieces: something between them
    // From now on the wrong bytes count as expected, so that later rounds do not count them again.
    std::copy_n(at_.host.begin(), source_, host_now_.begin());
    for (copy_place const& each : places_)
        std::memcpy(&gpu_now_[each.gpu], &at_.host[each.host], each.bytes);
}

void piece_hammer::run(std::uint64_t pieces, hammer_progress const& progress) {
    std::uint64_t const end = pieces_ + pieces;
    auto const count = [this] {
        pieces_ += places_.size();
        for (copy_place const& each : places_)
            bytes_ += each.bytes;
    };
    for (std::uint64_t round = 0, told = pieces_; pieces_ < end; ++round) {
        to_gpu(round);
        count();
        to_cpu();
        count();
        if (pieces_ - told >= report_every) {
            told = pieces_;
            progress(pieces_);
        }
    }
}

std::uint64_t hammer_pairs(anvil const& at, window through, pair_order order, std::uint64_t pairs,
                           std::uint64_t seed, hammer_progress const& progress) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    std::uint64_t random = first_state(seed), stale = 0;
    std::vector<std::byte> written(largest_pair), seen(largest_pair);
    std::size_t const word_gap = gap_to_multiple(through.data, word);
    for (std::uint64_t i = 0; i < pairs; ++i) {
        std::uint64_t const choice = step(random);
        std::size_t bytes = word << choice % std::bit_width(largest_pair / word);
        // Every other one where the last ones were: what is stale is stale of something.
        std::size_t where = choice >> 63 ? 0 : step(random) % (at.gpu_bytes - largest_pair + 1);
        bool const posts = i % 4 == 3 && order == pair_order::mapping_then_engine;
        if (posts) {
            bytes = word;
            where = word_gap + where / word * word;
        }
        fill_pattern(std::span(written).first(bytes), choice, 0);
        window const target = through.subwindow(where, bytes);
        copy_place const piece{where, 0, bytes};
        if (order == pair_order::engine_then_mapping) {
            std::memcpy(at.host.data(), written.data(), bytes);
            at.copy(copy_direction::to_gpu, {&piece, 1});
            read(std::span(seen).first(bytes), target);
        } else {
            if (posts) {
                std::uint64_t value = 0;
                std::memcpy(&value, written.data(), word);
                post(target, value);
            } else {
                write(target, std::span<std::byte const>(written).first(bytes));
            }
            at.copy(copy_direction::to_cpu, {&piece, 1});
            std::memcpy(seen.data(), at.host.data(), bytes);
        }
        stale += std::memcmp(seen.data(), written.data(), bytes) != 0;
        if (i % report_every == report_every - 1)
            progress(i + 1);
    }
    return stale;
}

copier at_once(copier one, unsigned threads) {
    return [one = std::move(one), threads](copy_direction way, std::span<copy_place const> places) {
        std::size_t const each = places.size() / threads;
        std::vector<std::future<void>> others; // their destructors wait
        for (unsigned i = 1; i < threads; ++i, places = places.subspan(each))
            others.push_back(std::async(std::launch::async, one, way, places.first(each)));
        one(way, places);
        for (std::future<void>& other : others)
            other.get();
    };
}

} // namespace barmap::tool
