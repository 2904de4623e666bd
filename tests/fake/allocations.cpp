// SPDX-License-Identifier: MIT
#include "fake/allocations.hpp"

#include <cstdlib>
#include <new>

namespace barmap::fake {
namespace {

thread_local unsigned left = 0;      // until the one that fails; 0: none does
thread_local unsigned in_a_fake = 0; // calls
thread_local bool fired = false;

} // namespace

failing_allocation::failing_allocation(unsigned which) noexcept {
    fired = false;
    left = which;
}

failing_allocation::~failing_allocation() {
    left = 0;
}

bool failing_allocation::has_fired() noexcept {
    return fired;
}

allocations_of_a_fake::allocations_of_a_fake() noexcept {
    ++in_a_fake;
}

allocations_of_a_fake::~allocations_of_a_fake() {
    --in_a_fake;
}

} // namespace barmap::fake

// For the whole program, the library's code in it included. The other forms come to this one.
void* operator new(std::size_t bytes) {
    using namespace barmap::fake;
    if (left != 0 && in_a_fake == 0 && --left == 0) {
        fired = true;
        throw std::bad_alloc();
    }
    if (void* const made = std::malloc(bytes != 0 ? bytes : 1))
        return made;
    throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
