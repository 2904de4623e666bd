// SPDX-License-Identifier: MIT
#include "address_space.hpp"

#include "entry.hpp"

#include <iterator>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace barmap::sim {
namespace {

constexpr int nothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

std::byte* map_nothing(std::uint64_t bytes, void* wish = nullptr) {
    void* const at = mmap(wish, bytes, PROT_NONE, nothing, -1, 0);
    require(at != MAP_FAILED, cuda::error_out_of_memory);
    return static_cast<std::byte*>(at);
}

} // namespace

reservation::reservation(std::uint64_t bytes, std::uint64_t alignment, CUdeviceptr wish)
    : size_(bytes) {
    auto const page = std::uint64_t(sysconf(_SC_PAGESIZE));
    std::uint64_t const slack = alignment > page ? alignment : 0;
    std::byte* const start = map_nothing(bytes + slack, reinterpret_cast<void*>(wish));
    auto const first = reinterpret_cast<std::uint64_t>(start);
    base_ = round_up(first, alignment);
    if (base_ > first)
        munmap(start, base_ - first);
    if (std::uint64_t const after = first + bytes + slack - (base_ + bytes))
        munmap(reinterpret_cast<void*>(base_ + bytes), after);
    try {
        view_ = map_nothing(bytes);
    } catch (...) {
        munmap(reinterpret_cast<void*>(base_), size_);
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
    munmap(reinterpret_cast<void*>(base_), size_);
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

allocation& address_space::add(allocation added) {
    added.id = next_id_++;
    added.use = std::make_shared<memory_use>();
    CUdeviceptr const base = added.base;
    return allocations_.insert_or_assign(base, std::move(added)).first->second;
}

allocation* address_space::find(CUdeviceptr address) {
    auto at = allocations_.upper_bound(address);
    if (at == allocations_.begin())
        return nullptr;
    --at;
    return address - at->second.base < at->second.size ? &at->second : nullptr;
}

allocation& address_space::at(CUdeviceptr base) {
    auto const found = allocations_.find(base);
    require(found != allocations_.end());
    return found->second;
}

allocation address_space::remove(CUdeviceptr base) {
    auto const found = allocations_.extract(base);
    require(!found.empty());
    return std::move(found.mapped());
}

std::byte* address_space::resolve(CUdeviceptr address, std::uint64_t bytes) {
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
