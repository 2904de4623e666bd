// SPDX-License-Identifier: MIT
#include "machine.hpp"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

#include <csignal>
#include <cstring>
#include <ucontext.h>

/// Which fences flush and invalidate execute: no value shows on coherent memory that one is
/// missing.
namespace barmap::vkgdr_test {
namespace {

struct {
    int stores = 0; ///< SFENCE
    int all = 0;    ///< MFENCE
} volatile seen;

/// Looks at each instruction before it is executed.
void look(int, siginfo_t*, void* context) {
    constexpr unsigned char sfence[] = {0x0f, 0xae, 0xf8}, mfence[] = {0x0f, 0xae, 0xf0};
    auto const* const next = reinterpret_cast<void const*>(
        static_cast<ucontext_t const*>(context)->uc_mcontext.gregs[REG_RIP]);
    if (std::memcmp(next, sfence, sizeof sfence) == 0)
        seen.stores = seen.stores + 1;
    if (std::memcmp(next, mfence, sizeof mfence) == 0)
        seen.all = seen.all + 1;
}

/// Sets the trap flag while it lives. Below the red zone, which belongs to the function around it.
struct single_steps {
    single_steps() {
        seen.stores = 0;
        seen.all = 0;
        struct sigaction action {};
        action.sa_sigaction = look;
        action.sa_flags = SA_SIGINFO;
        ::sigaction(SIGTRAP, &action, &before_);
        __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; "
                         "lea 128(%%rsp), %%rsp" ::
                             : "memory", "cc");
    }
    single_steps(single_steps const&) = delete;
    single_steps& operator=(single_steps const&) = delete;
    ~single_steps() {
        __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; "
                         "lea 128(%%rsp), %%rsp" ::
                             : "memory", "cc");
        ::sigaction(SIGTRAP, &before_, nullptr);
    }

private:
    struct sigaction before_ {};
};

using fence_test = vkgdr_test;

TEST_P(fence_test, flush_lets_stores_go_and_invalidate_ends_early_loads) {
    for (std::uint32_t const flags : {0u, std::uint32_t{VKGDR_OPEN_FORCE_NON_COHERENT_BIT}}) {
        opened const gpu(flags | VKGDR_OPEN_CURRENT_CONTEXT_BIT);
        allocated const memory(gpu, 640);
        {
            single_steps const stepping;
            vkgdr_memory_flush(memory.get(), 0, 640);
        }
        EXPECT_EQ(seen.stores, 1);
        EXPECT_EQ(seen.all, 0);
        {
            single_steps const stepping;
            vkgdr_memory_invalidate(memory.get(), 0, 640);
        }
        EXPECT_EQ(seen.stores, 0);
        EXPECT_EQ(seen.all, 1);
    }
}

TEST_P(fence_test, what_breaks_a_rule_executes_none) {
    opened const gpu(VKGDR_OPEN_FORCE_NON_COHERENT_BIT | VKGDR_OPEN_CURRENT_CONTEXT_BIT);
    allocated const memory(gpu, 640);
    vkgdr_memory_flush(memory.get(), 1, 64); // is printed
    {
        single_steps const stepping;
        vkgdr_memory_flush(memory.get(), 1, 64);
        vkgdr_memory_invalidate(memory.get(), 1, 64);
    }
    EXPECT_EQ(seen.stores, 0);
    EXPECT_EQ(seen.all, 0);
}

BARMAP_ON_ALL_MACHINES(fence_test);

} // namespace
} // namespace barmap::vkgdr_test

#endif
