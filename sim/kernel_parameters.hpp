// SPDX-License-Identifier: MIT
#pragma once

#include "world.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sched.h>

namespace barmap::sim {

/// One parameter of a kernel, as cuLaunchKernel gets it.
template <class T>
T parameter(void** parameters, int index) {
    T value;
    require(parameters && parameters[index]);
    std::memcpy(&value, parameters[index], sizeof value);
    return value;
}

/// The simulated driver's address of memory whose GPU address a kernel gets.
template <class T>
T* pointer(void** parameters, int index, std::uint64_t count) {
    require(count <= std::numeric_limits<std::size_t>::max() / sizeof(T));
    auto const address = parameter<CUdeviceptr>(parameters, index);
    std::byte* const at = the_world().addresses.resolve(address, count * sizeof(T));
    require(at && address % sizeof(T) == 0);
    return reinterpret_cast<T*>(at);
}

/// The same where a parameter holds the address.
template <class T>
T* resolved(T* address, std::uint64_t count) {
    auto const at = reinterpret_cast<std::uintptr_t>(address);
    require(count <= std::numeric_limits<std::size_t>::max() / sizeof(T));
    std::byte* const found = the_world().addresses.resolve(at, count * sizeof(T));
    require(found && at % alignof(T) == 0);
    return reinterpret_cast<T*>(found);
}

/// Of a clock that only goes forward.
inline std::uint64_t nanoseconds() {
    return std::uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                             std::chrono::steady_clock::now().time_since_epoch())
                             .count());
}

/// Lets other threads run between polls of a kernel, for as long as it takes: there may be few
/// processors.
struct again_later {
    bool operator()() const {
        sched_yield();
        return true;
    }
};

} // namespace barmap::sim
