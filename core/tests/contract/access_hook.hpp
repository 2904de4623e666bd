// SPDX-License-Identifier: MIT
#pragma once

#include "system/region.hpp"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <utility>

namespace barmap::contract {

/// Runs something at the first access to a page, before it: what happens between two loads of other
/// code. One at a time, on the thread that accesses. Only where pages have 4 KiB: SKIP_WITHOUT_HOOK.
class access_hook {
public:
    static constexpr std::size_t page = 4096;

    access_hook() {
        now() = this;
        struct sigaction action = {};
        action.sa_sigaction = [](int, siginfo_t*, void*) {
            void* const at = std::exchange(now()->page_, nullptr);
            if (at == nullptr) { // not ours
                std::signal(SIGSEGV, SIG_DFL);
                return;
            }
            ::mprotect(at, page, PROT_READ | PROT_WRITE);
            auto const run = std::exchange(now()->run_, {}); // which may set another one
            run();
        };
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        EXPECT_EQ(::sigaction(SIGSEGV, &action, &before_), 0);
    }
    access_hook(access_hook const&) = delete;
    access_hook& operator=(access_hook const&) = delete;
    ~access_hook() {
        ::sigaction(SIGSEGV, &before_, nullptr);
        EXPECT_EQ(page_, nullptr) << "it was accessed";
    }

    /// @param address on the page @param run may set the next one
    void at(void const* address, std::function<void()> run) {
        run_ = std::move(run);
        page_ = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) / page * page);
        EXPECT_EQ(::mprotect(page_, page, PROT_NONE), 0);
    }

private:
    static access_hook*& now() {
        static access_hook* instance = nullptr;
        return instance;
    }
    std::function<void()> run_;
    void* page_ = nullptr;
    struct sigaction before_ = {};
};

} // namespace barmap::contract

#define SKIP_WITHOUT_HOOK()                                                                        \
    if (os::page_size() != access_hook::page)                                                      \
    GTEST_SKIP() << "pages here are larger than what the test watches"
