// SPDX-License-Identifier: MIT
#include "interposed.hpp"

#include "driver_functions.hpp"
#include "first_user.hpp"
#include "judgement.hpp"
#include "loader.hpp"
#include "next_definition.hpp"

#include "system/library.hpp"

#include <dlfcn.h>

namespace barmap::memcpy_dropin {
namespace {

template <auto Function>
void* address_of() {
    return reinterpret_cast<void*>(Function);
}

/// All that is interposed, except for dlsym and dlvsym (loader.cpp). Of one name and kind of stream
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

/// From now on calls go there, or where the first caller has said. @return where they go
void* pass_on_to(interposed& which, void* function) noexcept {
    (void)is_first_user(); // from now on, and before a child can find the function here
    void* first = nullptr;
    if (!which.real.compare_exchange_strong(first, function))
        return first;
    if (char const* const file = file_of(function))
        os::keep_loaded(file);
    return function;
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
    if (is_turned_off())
        return found;          // calls cost what they cost without this library
    if (found == which.ours()) // of another library that stands behind this one, by its own name
        return real(which) ? which.ours() : nullptr;
    void* first = which.real.load(std::memory_order_acquire);
    if (!first) {
        // Another library's of the same name stays what it is, as a stub's that a program opens.
        void* const of_driver = find_in_driver(which.symbol);
        if (!of_driver || base_of(of_driver) != base_of(found))
            return found;
        first = pass_on_to(which, found);
    }
    return base_of(first) == base_of(found) ? which.ours() : found;
}

void* real(interposed& which) noexcept {
    if (void* const known = which.real.load(std::memory_order_acquire))
        return known;
    void* const of_driver = find_in_driver(which.symbol);
    if (of_driver && of_driver != which.ours())
        return pass_on_to(which, of_driver);
    void* const next = next_definition(which.symbol);
    // Without a driver: what a program is linked with, and the driver may still come.
    return of_driver && next ? pass_on_to(which, next) : next;
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
