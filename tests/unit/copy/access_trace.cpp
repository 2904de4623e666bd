// SPDX-License-Identifier: MIT
#include "access_trace.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <sys/mman.h>
#include <ucontext.h>

namespace barmap::copy {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr greg_t trap_flag = 1 << 8; // of EFLAGS: trap after the next instruction

struct {
    std::byte* page = nullptr;
    std::array<std::uintptr_t, page_bytes> at; // fixed, since a signal handler fills it
    std::size_t count = 0;
} trace;

greg_t& flags(void* context) {
    return static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
}

void open_page(int, siginfo_t* info, void* context) {
    auto const offset = static_cast<std::byte*>(info->si_addr) - trace.page;
    if (offset < 0 || offset >= static_cast<std::ptrdiff_t>(page_bytes) ||
        trace.count == trace.at.size()) {
        std::abort(); // a true fault
    }
    trace.at[trace.count++] = static_cast<std::uintptr_t>(offset);
    mprotect(trace.page, page_bytes, PROT_READ | PROT_WRITE);
    flags(context) |= trap_flag;
}

void close_page(int, siginfo_t*, void* context) {
    mprotect(trace.page, page_bytes, PROT_NONE);
    flags(context) &= ~trap_flag;
}

} // namespace

std::vector<std::uintptr_t> trace_accesses(std::byte* page, void (*run)(void*), void* argument) {
    struct sigaction segv {
    }, trap{}, old_segv{}, old_trap{};
    segv.sa_flags = trap.sa_flags = SA_SIGINFO;
    segv.sa_sigaction = open_page;
    trap.sa_sigaction = close_page;
    sigaction(SIGSEGV, &segv, &old_segv);
    sigaction(SIGTRAP, &trap, &old_trap);
    trace.page = page;
    trace.count = 0;

    mprotect(page, page_bytes, PROT_NONE);
    run(argument);
    mprotect(page, page_bytes, PROT_READ | PROT_WRITE);

    sigaction(SIGSEGV, &old_segv, nullptr);
    sigaction(SIGTRAP, &old_trap, nullptr);
    return {trace.at.begin(), trace.at.begin() + static_cast<std::ptrdiff_t>(trace.count)};
}

} // namespace barmap::copy
