// SPDX-License-Identifier: MIT
#include "loader.hpp"

#include "interposed.hpp"
#include "next_definition.hpp"

#include <barmap/report.h>

#include <atomic>
#include <cstring>
#include <dlfcn.h>

/// dlsym and dlvsym, which return this library's functions in place of the driver's. All other
/// searches jump to the next dlsym, so that it sees the caller's return address, from which it
/// finds where RTLD_NEXT begins.
namespace barmap::memcpy_dropin {
namespace {

using dlsym_function = void*(void*, char const*);
using dlvsym_function = void*(void*, char const*, char const*);

void* next_one(std::atomic<void*>& known, char const* name) noexcept {
    void* found = known.load(std::memory_order_relaxed);
    if (!found) {
        found = next_definition(name);
        known.store(found, std::memory_order_relaxed);
    }
    return found;
}

void* address_of_next_dlsym() noexcept {
    static constinit std::atomic<void*> known{nullptr};
    return next_one(known, "dlsym");
}

void* next_dlvsym() noexcept {
    static constinit std::atomic<void*> known{nullptr};
    return next_one(known, "dlvsym");
}

/// The result of a search: an answer, or the function that continues it.
struct outcome {
    void* answer;
    void* go_on;
};

/// The function that a search with RTLD_DEFAULT finds without this library: one that all may see,
/// or one that was loaded with the caller's library and for it alone.
void* find_for(void const* caller, char const* symbol) noexcept {
    if (void* const found = next_dlsym(RTLD_NEXT, symbol))
        return found;
    Dl_info its{};
    if (!::dladdr(caller, &its) || !its.dli_fname)
        return nullptr;
    void* const library = ::dlopen(its.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return nullptr;
    void* const found = next_dlsym(library, symbol);
    ::dlclose(library); // the caller's, which stays loaded
    return found;
}

/// Whether this is code of libbarmap.so.1. Its engine copies by CUDA's functions themselves: a
/// batch that was taken from it would wait for the locks that the engine holds.
bool is_of_core(void const* caller) noexcept {
    Dl_info its{}, of_core{};
    return ::dladdr(caller, &its) != 0 &&
           ::dladdr(reinterpret_cast<void*>(&barmap_driver_load), &of_core) != 0 &&
           its.dli_fbase == of_core.dli_fbase;
}

/// Whether the handle is for what all may see.
bool is_for_all(void* library) noexcept {
    if (library == RTLD_DEFAULT)
        return true;
    void* const program = ::dlopen(nullptr, RTLD_LAZY);
    if (program)
        ::dlclose(program);
    return library == program;
}

outcome search(void* library, char const* symbol, char const* version,
               void const* caller) noexcept {
    outcome const others{nullptr, version ? next_dlvsym() : address_of_next_dlsym()};
    if (!symbol || std::strncmp(symbol, "cu", 2) != 0)
        return others;
    interposed* const which = find_interposed(symbol);
    if (!which || library == RTLD_NEXT || is_of_core(caller)) // NEXT: behind the caller
        return others;
    auto const next = [&](void* where) {
        return version ? reinterpret_cast<dlvsym_function*>(others.go_on)(where, symbol, version)
                       : reinterpret_cast<dlsym_function*>(others.go_on)(where, symbol);
    };
    void* found = library == RTLD_DEFAULT ? which->ours() : next(library);
    if (!found)
        return others;                                 // again, for the error's sake
    if (found == which->ours() && is_for_all(library)) // this library is among the first there
        found = find_for(caller, symbol);
    void* const answer = found ? hand_out(*which, found) : nullptr;
    if (!answer)
        (void)next(RTLD_NEXT); // which leaves dlerror() its text
    return {answer, nullptr};
}

} // namespace

void* next_dlsym(void* library, char const* symbol) noexcept {
    auto* const next = reinterpret_cast<dlsym_function*>(address_of_next_dlsym());
    return next ? next(library, symbol) : nullptr;
}

void* find_in_driver(char const* symbol) noexcept {
    void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        return nullptr;
    void* const found = next_dlsym(driver, symbol);
    ::dlclose(driver);
    return found;
}

} // namespace barmap::memcpy_dropin

extern "C" {

__attribute__((visibility("hidden"), used)) barmap::memcpy_dropin::outcome
barmap_memcpy_search(void* library, char const* symbol, char const* version,
                     void const* caller) noexcept {
    return barmap::memcpy_dropin::search(library, symbol, version, caller);
}

} // extern "C"

// The arguments are kept for the next one; the caller is where the function returns to. An outcome
// comes back in two registers. CUDA has batch
// copies on these two processors only.
#if defined(__x86_64__)
#define BARMAP_SEARCH(name, version)                                                               \
    asm(".text\n.globl " name "\n.type " name ", @function\n" name ":\n"                           \
        ".cfi_startproc\nendbr64\n"                                                                \
        "push %rdi\npush %rsi\npush %rdx\n.cfi_adjust_cfa_offset 24\n" version                     \
        "mov 24(%rsp), %rcx\n"                                                                     \
        "call barmap_memcpy_search\n"                                                              \
        "mov %rdx, %rcx\npop %rdx\npop %rsi\npop %rdi\n.cfi_adjust_cfa_offset -24\n"               \
        "test %rcx, %rcx\njz 1f\njmp *%rcx\n1: ret\n.cfi_endproc\n.size " name ", . - " name "\n")
BARMAP_SEARCH("dlsym", "xor %edx, %edx\n");
BARMAP_SEARCH("dlvsym", "");
#elif defined(__aarch64__)
#define BARMAP_SEARCH(name, version)                                                               \
    asm(".text\n.globl " name "\n.type " name ", %function\n" name ":\n"                           \
        ".cfi_startproc\nhint #34\n" /* bti c */                                                   \
        "stp x29, x30, [sp, -48]!\n.cfi_adjust_cfa_offset 48\n.cfi_offset 30, -40\n"               \
        "mov x29, sp\nstp x0, x1, [sp, 16]\nstr x2, [sp, 32]\nmov x3, x30\n" version               \
        "bl barmap_memcpy_search\n"                                                                \
        "mov x9, x0\nmov x16, x1\nldp x0, x1, [sp, 16]\nldr x2, [sp, 32]\n"                        \
        "ldp x29, x30, [sp], 48\n.cfi_adjust_cfa_offset -48\n.cfi_restore 30\n"                    \
        "cbz x16, 1f\nbr x16\n1: mov x0, x9\nret\n.cfi_endproc\n.size " name ", . - " name "\n")
BARMAP_SEARCH("dlsym", "mov x2, xzr\n");
BARMAP_SEARCH("dlvsym", "");
#endif
