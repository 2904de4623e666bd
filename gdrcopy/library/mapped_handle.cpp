// SPDX-License-Identifier: MIT
#include "mapped_handle.hpp"

#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace barmap::gdrapi {

using detail::blocks;
using detail::index_bits;
using detail::index_mask;
using detail::slots_per_block;

constinit std::atomic<slot*> detail::blocks[(index_mask + 1) / slots_per_block]{};

namespace {

/// Which handles are in use. Never destroyed, like all that a call at process exit may meet.
struct allocator {
    std::mutex lock;
    unsigned long serial = 0;
    std::size_t blocks_made = 0;
    std::vector<unsigned long> free; ///< indices
};

allocator& the_allocator() {
    static auto* const instance = new allocator;
    return *instance;
}

void make_block(allocator& all) {
    if (all.blocks_made == std::size(blocks))
        throw std::bad_alloc();
    auto block = std::make_unique<slot[]>(slots_per_block);
    all.free.reserve((all.blocks_made + 1) * slots_per_block); // freeing then cannot fail
    // The first slot stays unused: otherwise handle 0 would name it.
    std::size_t const first = all.blocks_made == 0 ? 1 : 0;
    if (first == 1)
        block[0].handle = ~0ul;
    for (std::size_t i = slots_per_block; i-- > first;)
        all.free.push_back(all.blocks_made * slots_per_block + i);
    blocks[all.blocks_made++].store(block.release(), std::memory_order_release);
}

} // namespace

unsigned long allocate_handle() {
    allocator& all = the_allocator();
    std::lock_guard const guard(all.lock);
    if (all.free.empty())
        make_block(all);
    unsigned long const index = all.free.back();
    all.free.pop_back();
    return ++all.serial << index_bits | index;
}

void free_handle(unsigned long handle) noexcept {
    allocator& all = the_allocator();
    std::lock_guard const guard(all.lock);
    all.free.push_back(handle & index_mask);
}

void publish_handle(unsigned long handle, std::byte* data, std::size_t bytes,
                    mapping const& whole) noexcept {
    slot& place = *find_slot(handle);
    place.data.store(data, std::memory_order_relaxed);
    place.size.store(bytes, std::memory_order_relaxed);
    place.plan.store(whole.window().plan, std::memory_order_relaxed);
    place.engines_to_gpu.store(whole.engines_from(copy_direction::to_gpu),
                               std::memory_order_relaxed);
    place.engines_to_cpu.store(whole.engines_from(copy_direction::to_cpu),
                               std::memory_order_relaxed);
    place.whole.store(&whole, std::memory_order_relaxed);
    place.handle.store(handle, std::memory_order_release);
}

void void_handle(unsigned long handle) noexcept {
    find_slot(handle)->handle.store(0, std::memory_order_release);
}

void lock_handles() noexcept {
    the_allocator().lock.lock();
}

void unlock_handles() noexcept {
    the_allocator().lock.unlock();
}

void void_all_handles() noexcept {
    for (std::size_t i = 1; i < the_allocator().blocks_made * slots_per_block; ++i)
        find_slot(i)->handle.store(0, std::memory_order_relaxed);
}

} // namespace barmap::gdrapi
