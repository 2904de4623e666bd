// SPDX-License-Identifier: MIT
#include "access_trace.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sys/mman.h>
#include <ucontext.h>

namespace barmap::copy {

namespace {

constexpr greg_t trap_flag = 1 << 8; // of EFLAGS: trap after the next instruction

struct {
    std::span<std::byte> memory;
    bool open = false, stepping = false;
    std::array<traced_step, 1 << 16> steps; // fixed, since a signal handler fills it
    std::size_t count = 0;
} trace;

greg_t* registers(void* context) {
    return static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
}

void note(step what, std::uintptr_t at) {
    if (trace.count == trace.steps.size()) {
        std::abort();
    }
    trace.steps[trace.count++] = {what, at};
}

void let(bool open) {
    mprotect(trace.memory.data(), trace.memory.size(), open ? PROT_READ | PROT_WRITE : PROT_NONE);
    trace.open = open;
}

// Prefixes and opcodes: Intel SDM volume 2, chapter 2 and the pages of the instructions.
std::optional<step> barrier_at(unsigned char const* code) {
    bool repeated = false;
    for (;; ++code) {
        if (*code == 0xf0) {
            return step::locked;
        }
        repeated = repeated || *code == 0xf3;
        if (*code == 0 || !std::strchr("\x66\x67\x2e\x36\x3e\x26\x64\x65\xf2\xf3", *code)) {
            break;
        }
    }
    if (repeated && *code == 0x90) {
        return step::pause;
    }
    code += (*code & 0xf0) == 0x40; // REX
    if ((*code & 0xfe) == 0x86 && code[1] < 0xc0) {
        return step::locked; // XCHG with memory
    }
    if (!repeated && code[0] == 0x0f && code[1] == 0xae && code[2] >= 0xe8) {
        return code[2] < 0xf0 ? step::lfence : code[2] < 0xf8 ? step::mfence : step::sfence;
    }
    return {};
}

void before_next(void* context) {
    auto const* const code = reinterpret_cast<unsigned char const*>(registers(context)[REG_RIP]);
    if (std::optional<step> const barrier = barrier_at(code)) {
        note(*barrier, 0);
    }
}

void on_fault(int, siginfo_t* info, void* context) {
    auto const offset = static_cast<std::byte*>(info->si_addr) - trace.memory.data();
    if (offset < 0 || offset >= static_cast<std::ptrdiff_t>(trace.memory.size()) || trace.open) {
        std::abort(); // a true fault
    }
    note(step::access, static_cast<std::uintptr_t>(offset));
    let(true); // for one instruction
    registers(context)[REG_EFL] |= trap_flag;
}

void on_trap(int, siginfo_t* info, void* context) {
    if (info->si_code == SI_KERNEL) { // one of the two breakpoints
        trace.stepping = !trace.stepping;
    }
    if (trace.open) {
        let(false);
    }
    if (trace.stepping) {
        before_next(context);
        registers(context)[REG_EFL] |= trap_flag;
    } else {
        registers(context)[REG_EFL] &= ~trap_flag;
    }
}

} // namespace

std::vector<traced_step> trace_steps(std::span<std::byte> memory, bool barriers, void (*run)(void*),
                                     void* argument) {
    struct sigaction segv {
    }, trap{}, old_segv{}, old_trap{};
    segv.sa_flags = trap.sa_flags = SA_SIGINFO;
    segv.sa_sigaction = on_fault;
    trap.sa_sigaction = on_trap;
    sigaction(SIGSEGV, &segv, &old_segv);
    sigaction(SIGTRAP, &trap, &old_trap);
    trace.memory = memory;
    trace.count = 0;

    let(false);
    if (barriers) {
        __asm__ volatile("int3" ::: "memory");
    }
    run(argument);
    if (barriers) {
        __asm__ volatile("int3" ::: "memory");
    }
    let(true);
    sigaction(SIGSEGV, &old_segv, nullptr);
    sigaction(SIGTRAP, &old_trap, nullptr);
    return {trace.steps.begin(), trace.steps.begin() + static_cast<std::ptrdiff_t>(trace.count)};
}

} // namespace barmap::copy
