// SPDX-License-Identifier: MIT
#include "pinned_range.hpp"

#include "cuda/address_ranges.hpp"
#include "cuda/driver_api.hpp"
#include "cuda/host_registration.hpp"
#include "system/region.hpp"

#include <barmap/error.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <string>

namespace barmap::nixl {
namespace {

/// Whole pages that CUDA has pinned for one range or for several.
struct registration {
    registration(CUdevice gpu, std::uintptr_t begin, std::uintptr_t to)
        : end(to), pinned(gpu, std::span(reinterpret_cast<std::byte*>(begin), to - begin)) {}
    std::uintptr_t end;
    std::size_t ranges = 0;
    cuda::host_registration pinned;
};

struct all_registrations {
    std::mutex lock;
    std::map<std::uintptr_t, registration> by_begin;
};

/// Never destroyed: agents may outlive every static object of this library.
all_registrations& registrations() {
    static auto& all = *new all_registrations;
    return all;
}

/// Whether all of it is pinned already, by the program. @throws error if it is no host memory
[[nodiscard]] bool has_program_pinned(CUdevice gpu, std::uintptr_t from, std::uintptr_t to) {
    cuda::address_range const found = cuda::find_range(gpu, from);
    if (found.side != cuda::memory_side::host && found.side != cuda::memory_side::unknown)
        throw error(errc::unsupported_memory, "register host memory", "",
                    "it is GPU memory or managed memory: register the former as VRAM_SEG");
    return found.side == cuda::memory_side::host && to - found.begin <= found.bytes;
}

} // namespace

pinned_range::pinned_range(int ordinal, std::uintptr_t address, std::size_t bytes) {
    std::uintptr_t const end = address + bytes;
    std::size_t const page = os::page_size();
    if (address == 0 || bytes == 0 || end < address || end > ~std::uintptr_t{0} - page)
        throw error(errc::invalid_argument, "register host memory", "",
                    "give an address, and a size greater than 0 that does not wrap around");
    std::uintptr_t const last = (end + page - 1) / page * page;
    CUdevice const gpu = cuda::device_with(ordinal);
    all_registrations& all = registrations();
    std::lock_guard const hold(all.lock);
    try {
        for (std::uintptr_t at = address / page * page; at < last;) {
            auto next = all.by_begin.upper_bound(at);
            bool const is_known = next != all.by_begin.begin() && std::prev(next)->second.end > at;
            auto found = is_known ? std::prev(next) : all.by_begin.end();
            std::uintptr_t const until =
                is_known ? std::min(found->second.end, last)
                         : (next == all.by_begin.end() ? last : std::min(next->first, last));
            shares_.reserve(shares_.size() + 1); // what is pinned then is not lost
            if (!is_known && !has_program_pinned(gpu, std::max(at, address), std::min(until, end)))
                found = all.by_begin.try_emplace(at, gpu, at, until).first;
            if (found != all.by_begin.end()) {
                shares_.push_back(found->first);
                ++found->second.ranges;
            }
            if (until < last)
                boundaries_.push_back(until);
            at = until;
        }
    } catch (...) {
        let_go();
        throw;
    }
}

pinned_range::~pinned_range() {
    std::lock_guard const hold(registrations().lock);
    let_go();
}

void pinned_range::let_go() noexcept {
    auto& by_begin = registrations().by_begin;
    for (std::uintptr_t const begin : shares_)
        if (auto const found = by_begin.find(begin); --found->second.ranges == 0)
            by_begin.erase(found);
}

std::size_t pinned_range::bytes_in_one_registration(std::uintptr_t address) const noexcept {
    auto const next = std::ranges::upper_bound(boundaries_, address);
    return next == boundaries_.end() ? ~std::size_t{0} : *next - address;
}

} // namespace barmap::nixl
