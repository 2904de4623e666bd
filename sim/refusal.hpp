// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>
#include <new>
#include <string>
#include <type_traits>

/// How calls of the simulated runtimes are refused. Both APIs answer with a number, 0 for success.
namespace barmap::sim {

// Codes to which both APIs give the same number.
inline constexpr int invalid_value = 1;
inline constexpr int out_of_memory = 2;
inline constexpr int invalid_handle = 400;
inline constexpr int unknown = 999;

/// Leaves a call with an error code; caught at the C boundary.
struct refusal {
    int code;
};

[[noreturn]] inline void refuse(int code) {
    throw refusal{code};
}

inline void require(bool condition, int code = invalid_value) {
    if (!condition)
        refuse(code);
}

/// The object at which a caller's out-parameter points.
template <class T>
T& out(T* pointer) {
    require(pointer != nullptr);
    return *pointer;
}

/// The code of body(arguments...), which returns one, or nothing, which means success.
template <class Body, class... Arguments>
int code_of(Body& body, Arguments&... arguments) {
    if constexpr (std::is_void_v<decltype(body(arguments...))>) {
        body(arguments...);
        return 0;
    } else {
        return body(arguments...);
    }
}

/// Runs body(), and turns what it throws into a code.
template <class Body>
int guarded(Body&& body) noexcept {
    try {
        return code_of(body);
    } catch (refusal const& why) {
        return why.code;
    } catch (std::bad_alloc const&) {
        return out_of_memory;
    } catch (...) {
        return unknown;
    }
}

/// The C library's dlsym: as a driver's table of its functions, it knows none of a library that
/// stands before dlsym.
inline auto* plain_dlsym() {
    auto* found = &dlsym;
    for (char const* const library : {"libdl.so.2", "libc.so.6"})
        if (void* const opened = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
            if (void* const its = dlsym(opened, "dlsym"))
                found = reinterpret_cast<decltype(found)>(its);
            dlclose(opened);
        }
    return found;
}

/// A function of this library by its name, or null.
inline void* own_symbol(std::string const& name) {
    static auto* const search = plain_dlsym();
    static void* const self = [] {
        Dl_info about{};
        static int const anchor = 0;
        return dladdr(&anchor, &about) ? dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    }();
    return self ? search(self, name.c_str()) : nullptr;
}

} // namespace barmap::sim
