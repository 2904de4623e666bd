// SPDX-License-Identifier: MIT
#include "batch/pools.hpp"

#include "measure/pattern.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

namespace barmap::tool {
namespace {

constexpr unsigned char guard = 0xc5;

/// How many of these bytes are no guard bytes.
std::uint64_t changed(std::byte const* bytes, std::size_t count) {
    if (count == 0 ||
        (bytes[0] == std::byte{guard} && std::memcmp(bytes, bytes + 1, count - 1) == 0))
        return 0;
    return count - static_cast<std::uint64_t>(std::count(bytes, bytes + count, std::byte{guard}));
}

std::uint64_t differing(std::byte const* found, std::byte const* expected, std::size_t count) {
    if (std::memcmp(found, expected, count) == 0)
        return 0;
    return static_cast<std::uint64_t>(std::inner_product(
        found, found + count, expected, std::ptrdiff_t{0}, std::plus<>(), std::not_equal_to<>()));
}

} // namespace

std::string_view name_of(batch_order order) {
    return order == batch_order::random ? "random" : "contiguous";
}

batch_pools::batch_pools(std::size_t bytes, std::uint64_t seed, opened_gpu const* other)
    : gpu_bytes_(bytes), host_source_(host_memory_kind::pinned, bytes),
      host_target_(host_memory_kind::pinned, bytes), gpu_source_(gpu_memory::device(bytes)),
      gpu_target_(gpu_memory::device(bytes)), other_(other) {
    fill_pattern(host_source_.bytes(), 2 * seed, 0);
    fill_pattern(gpu_bytes_, 2 * seed + 1, 0);
    write_gpu(gpu_source_.address(), gpu_bytes_);
    if (!other_)
        return;
    cuda::context_scope const scope = other_->enter();
    other_source_ = gpu_memory::device(bytes);
    other_target_ = gpu_memory::device(bytes);
    write_gpu(other_source_.address(), host_source_.bytes());
}

std::vector<copy_piece> batch_pools::pieces(copy_direction way,
                                            std::span<copy_place const> places) const {
    bool const to_gpu = way == copy_direction::to_gpu;
    auto const gpu = static_cast<std::uintptr_t>((to_gpu ? gpu_target_ : gpu_source_).address());
    auto const host =
        other_ ? static_cast<std::uintptr_t>((to_gpu ? other_source_ : other_target_).address())
               : reinterpret_cast<std::uintptr_t>(
                     (to_gpu ? host_source_ : host_target_).bytes().data());
    std::vector<copy_piece> found;
    found.reserve(places.size());
    for (copy_place const& each : places)
        found.push_back(to_gpu ? copy_piece{gpu + each.gpu, host + each.host, each.bytes}
                               : copy_piece{host + each.host, gpu + each.gpu, each.bytes});
    return found;
}

void batch_pools::clear(copy_direction way, std::size_t bytes) {
    if (way == copy_direction::to_gpu)
        return fill_gpu(gpu_target_.address(), guard, bytes);
    if (!other_) {
        std::memset(host_target_.bytes().data(), guard, bytes);
        return;
    }
    cuda::context_scope const scope = other_->enter();
    fill_gpu(other_target_.address(), guard, bytes);
}

batch_faults batch_pools::compare(copy_direction way, std::vector<copy_place> places,
                                  std::size_t bytes) {
    bool const to_gpu = way == copy_direction::to_gpu;
    std::byte* const found = host_target_.bytes().data();
    if (to_gpu)
        read_gpu({found, bytes}, gpu_target_.address());
    else if (other_)
        read_gpu({found, bytes}, other_target_.address());
    std::byte const* const source = to_gpu ? host_source_.bytes().data() : gpu_bytes_.data();
    auto const target_of = [&](copy_place const& one) { return to_gpu ? one.gpu : one.host; };
    std::sort(places.begin(), places.end(), [&](copy_place const& a, copy_place const& b) {
        return target_of(a) < target_of(b);
    });
    batch_faults result;
    std::size_t seen = 0;
    for (copy_place const& each : places) {
        std::size_t const at = target_of(each);
        result.guards += changed(found + seen, at - seen);
        result.wrong += differing(found + at, source + (to_gpu ? each.host : each.gpu), each.bytes);
        seen = at + each.bytes;
    }
    result.guards += changed(found + seen, bytes - seen);
    return result;
}

std::size_t piece_picker::stride(std::size_t size, batch_order order) {
    constexpr std::size_t aligned = 16; // kernels then load 16 bytes at once
    return order == batch_order::contiguous ? size : (size + aligned - 1) / aligned * aligned;
}

piece_picker::piece_picker(std::size_t size, std::size_t room, batch_order order,
                           std::uint64_t seed)
    : size_(size), stride_(stride(size, order)), order_(order), random_(seed),
      gpu_slots_(room / stride_), host_slots_(room / stride_) {
    std::iota(gpu_slots_.begin(), gpu_slots_.end(), 0u);
    std::iota(host_slots_.begin(), host_slots_.end(), 0u);
}

std::vector<copy_place> piece_picker::pick(std::size_t count) {
    std::size_t const slots = gpu_slots_.size();
    std::vector<copy_place> places;
    places.reserve(count);
    if (order_ == batch_order::contiguous) {
        std::size_t const gpu = random_() % (slots - count + 1),
                          host = random_() % (slots - count + 1);
        for (std::size_t i = 0; i < count; ++i)
            places.push_back({(gpu + i) * stride_, (host + i) * stride_, size_});
        return places;
    }
    for (std::size_t i = 0; i < count; ++i) {
        std::swap(gpu_slots_[i], gpu_slots_[i + random_() % (slots - i)]);
        std::swap(host_slots_[i], host_slots_[i + random_() % (slots - i)]);
        places.push_back({gpu_slots_[i] * stride_, host_slots_[i] * stride_, size_});
    }
    return places;
}

} // namespace barmap::tool
