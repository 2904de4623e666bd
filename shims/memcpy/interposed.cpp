// SPDX-License-Identifier: MIT
#include "interposed.hpp"

#include "driver_functions.hpp"
#include "next_definition.hpp"

#include "base/library.hpp"

#include <dlfcn.h>

namespace barmap::memcpy_dropin {
namespace {

template <auto Function>
void* address_of() {
    return reinterpret_cast<void*>(Function);
}

/// All that is interposed, but for dlsym and dlvsym (loader.cpp). Of one name and kind of stream
/// the newest version comes first. Searches may come before this library's constructors.
constinit interposed table[] = {
    {"cuGetProcAddress_v2", "cuGetProcAddress", 12000, false, address_of<cuGetProcAddress_v2>},
    {"cuGetProcAddress", "cuGetProcAddress", 11030, false, address_of<cuGetProcAddress>},
    {"cuMemcpyBatchAsync_v2", "cuMemcpyBatchAsync", 13000, false,
     address_of<cuMemcpyBatchAsync_v2>},
    {"cuMemcpyBatchAsync", "cuMemcpyBatchAsync", 12080, false, address_of<cuMemcpyBatchAsync>},
    {"cuMemcpyBatchAsync_v2_ptsz", "cuMemcpyBatchAsync", 13000, true,
     address_of<cuMemcpyBatchAsync_v2_ptsz>},
    {"cuMemcpyBatchAsync_ptsz", "cuMemcpyBatchAsync", 12080, true,
     address_of<cuMemcpyBatchAsync_ptsz>},
};

char const* file_of(void* function) noexcept {
    Dl_info info{};
    return ::dladdr(function, &info) ? info.dli_fname : nullptr;
}

void* base_of(void* function) noexcept {
    Dl_info info{};
    return ::dladdr(function, &info) ? info.dli_fbase : nullptr;
}

} // namespace

interposed* find_interposed(std::string_view name, int version, unsigned long long flags) noexcept {
    constexpr unsigned long long per_thread_default_stream = 2;
    bool const per_thread = (flags & per_thread_default_stream) != 0;
    for (interposed& each : table)
        if (each.name == name && version >= each.since &&
            (each.per_thread == per_thread || name == "cuGetProcAddress"))
            return &each;
    return nullptr;
}

interposed* find_interposed(std::string_view symbol) noexcept {
    for (interposed& each : table)
        if (symbol == each.symbol)
            return &each;
    return nullptr;
}

void* hand_out(interposed& which, void* found) noexcept {
    if (found == which.ours())
        return real(which) ? which.ours() : nullptr;
    void* first = nullptr;
    if (which.real.compare_exchange_strong(first, found)) {
        if (char const* const file = file_of(found))
            os::keep_loaded(file); // calls go there from now on
        return which.ours();
    }
    // Another library's of the same name stays what it is: there is one function to pass calls to.
    return base_of(first) == base_of(found) ? which.ours() : found;
}

void* real(interposed& which) noexcept {
    if (void* const known = which.real.load(std::memory_order_acquire))
        return known;
    if (void* const found = next_definition(which.symbol))
        (void)hand_out(which, found);
    return which.real.load(std::memory_order_acquire);
}

bool driver_is_loaded() noexcept {
    static std::atomic<bool> is_known{false}; // what calls were passed to stays
    if (is_known.load(std::memory_order_relaxed))
        return true;
    if (!os::is_loaded("libcuda.so.1"))
        return false;
    is_known.store(true, std::memory_order_relaxed);
    return true;
}

} // namespace barmap::memcpy_dropin
