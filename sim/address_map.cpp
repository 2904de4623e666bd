// SPDX-License-Identifier: MIT
#include "address_map.hpp"

#include "entry.hpp"

#include <algorithm>
#include <iterator>
#include <list>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace barmap::sim {
namespace {

constexpr int nothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// Ranges of device addresses that were freed. They stay reserved, so that they go to the next GPU
/// memory of their size, and to nothing else of the process. Guarded by the world's mutex.
class freed_addresses {
public:
    /// The range that was freed last, or the one with the wish in it. @return 0 if there is none
    static CUdeviceptr take(std::uint64_t bytes, std::uint64_t alignment, CUdeviceptr wish) {
        auto& kept = all();
        auto const fits = [&](range const& one) {
            return wish ? wish - one.base < one.bytes && bytes <= one.bytes - (wish - one.base)
                        : one.bytes == bytes && one.base % alignment == 0;
        };
        auto const last = std::find_if(kept.rbegin(), kept.rend(), fits);
        if (last == kept.rend()) {
            if (wish)
                release([&](range const& one) {
                    return one.base < wish + bytes && wish < one.base + one.bytes;
                });
            return 0;
        }
        auto const [base, size] = *last;
        auto const at = kept.erase(std::next(last).base());
        CUdeviceptr const taken = wish ? wish : base;
        std::uint64_t const before = taken - base, after = size - before - bytes;
        if (after)
            kept.insert(at, {taken + bytes, after});
        if (before)
            kept.insert(at, {base, before});
        return taken;
    }
    static void keep(CUdeviceptr base, std::uint64_t bytes) {
        constexpr std::size_t most = 1024;
        all().push_back({base, bytes});
        if (all().size() > most) {
            unmap(all().front());
            all().pop_front();
        }
    }
    static void release_all() {
        release([](range const&) { return true; });
    }

private:
    struct range {
        CUdeviceptr base;
        std::uint64_t bytes;
    };
    static std::list<range>& all() noexcept {
        static auto& kept = *new std::list<range>;
        return kept;
    }
    static void unmap(range const& one) { munmap(reinterpret_cast<void*>(one.base), one.bytes); }
    template <typename Which>
    static void release(Which which) {
        all().remove_if([&](range const& one) {
            if (!which(one))
                return false;
            unmap(one);
            return true;
        });
    }
};

std::byte* map_nothing(std::uint64_t bytes, void* wish = nullptr) {
    void* at = mmap(wish, bytes, PROT_NONE, nothing, -1, 0);
    if (at == MAP_FAILED) { // under a limit of the process's addresses
        freed_addresses::release_all();
        at = mmap(wish, bytes, PROT_NONE, nothing, -1, 0);
    }
    require(at != MAP_FAILED, cuda::error_out_of_memory);
    return static_cast<std::byte*>(at);
}

CUdeviceptr new_addresses(std::uint64_t bytes, std::uint64_t alignment, CUdeviceptr wish) {
    auto const page = std::uint64_t(sysconf(_SC_PAGESIZE));
    std::uint64_t const slack = alignment > page ? alignment : 0;
    std::byte* const start = map_nothing(bytes + slack, reinterpret_cast<void*>(wish));
    auto const first = reinterpret_cast<std::uint64_t>(start);
    CUdeviceptr const base = round_up(first, alignment);
    if (base > first)
        munmap(start, base - first);
    if (std::uint64_t const after = first + bytes + slack - (base + bytes))
        munmap(reinterpret_cast<void*>(base + bytes), after);
    return base;
}

} // namespace

reservation::reservation(std::uint64_t bytes, std::uint64_t alignment, CUdeviceptr wish)
    : size_(bytes) {
    base_ = freed_addresses::take(bytes, alignment, wish);
    if (!base_)
        base_ = new_addresses(bytes, alignment, wish);
    try {
        view_ = map_nothing(bytes);
    } catch (...) {
        freed_addresses::keep(base_, size_);
        throw;
    }
    views().emplace(reinterpret_cast<std::uint64_t>(view_), size_);
    all().insert(this);
}

std::set<reservation const*>& reservation::all() noexcept {
    static auto& every_one = *new std::set<reservation const*>;
    return every_one;
}

std::map<std::uint64_t, std::uint64_t>& reservation::views() noexcept {
    static auto& all = *new std::map<std::uint64_t, std::uint64_t>;
    return all;
}

reservation::~reservation() {
    freed_addresses::keep(base_, size_);
    munmap(view_, size_);
    views().erase(reinterpret_cast<std::uint64_t>(view_));
    all().erase(this);
}

void reservation::place(std::uint64_t at, physical const& memory, std::uint64_t offset,
                        std::uint64_t bytes) const {
    void* const there = mmap(view_ + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                             memory.fd(), off_t(memory.offset() + offset));
    require(there != MAP_FAILED, cuda::error_out_of_memory);
    parts_[at] = {&memory, offset, bytes};
}

void reservation::place_again(physical const& memory) const {
    for (auto const& [at, each] : std::map(parts_))
        if (each.memory == &memory)
            place(at, memory, each.offset, each.bytes);
}

bool reservation::is_clear(std::uint64_t at, std::uint64_t bytes) const {
    auto const next = parts_.lower_bound(at + bytes);
    return next == parts_.begin() || std::prev(next)->first + std::prev(next)->second.bytes <= at;
}

void reservation::clear(std::uint64_t at, std::uint64_t bytes) const {
    parts_.erase(at);
    mmap(view_ + at, bytes, PROT_NONE, nothing | MAP_FIXED, -1, 0);
}

allocation allocation::in(std::shared_ptr<reservation> addresses, std::uint64_t at,
                          std::uint64_t bytes, sim::kind kind, std::shared_ptr<physical> memory,
                          std::uint64_t offset) {
    allocation made;
    made.base = addresses->base() + at;
    made.size = bytes;
    made.kind = kind;
    made.ordinal = memory->ordinal();
    made.view = addresses->view() + at;
    made.memory = std::move(memory);
    made.offset = offset;
    made.addresses = std::move(addresses);
    return made;
}

allocation& address_map::add(allocation added) {
    added.id = next_id_++;
    added.use = std::make_shared<memory_use>();
    CUdeviceptr const base = added.base;
    return allocations_.insert_or_assign(base, std::move(added)).first->second;
}

allocation* address_map::find(CUdeviceptr address) {
    auto at = allocations_.upper_bound(address);
    if (at == allocations_.begin())
        return nullptr;
    --at;
    return address - at->second.base < at->second.size ? &at->second : nullptr;
}

allocation& address_map::at(CUdeviceptr base) {
    auto const found = allocations_.find(base);
    require(found != allocations_.end());
    return found->second;
}

allocation address_map::remove(CUdeviceptr base) {
    auto const found = allocations_.extract(base);
    require(!found.empty());
    return std::move(found.mapped());
}

std::byte* address_map::resolve(CUdeviceptr address, std::uint64_t bytes) {
    allocation const* here = find(address);
    if (!here)
        return nullptr;
    std::byte* const start = here->view + (address - here->base);
    std::uint64_t covered = 0;
    for (;;) {
        require(here->accessible);
        if (found_.empty() || found_.back() != here->use) // pieces mostly lie in one allocation
            found_.push_back(here->use);
        std::uint64_t const inside = address + covered - here->base;
        covered += here->size - inside;
        if (covered >= bytes)
            return start;
        // Only chunks of one reservation are adjacent, for the GPU and in the view.
        require(here->kind == kind::chunk);
        here = find(address + covered);
        require(here && here->kind == kind::chunk && here->view == start + covered);
    }
}

} // namespace barmap::sim
