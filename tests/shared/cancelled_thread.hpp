// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <pthread.h>

namespace barmap::test {

/// Runs it in a thread that was cancelled, which ends at its first call that ends such threads.
/// @return whether it came to its end before the thread did
inline bool returns_to_a_cancelled_thread(std::function<void()> run) {
    struct shared {
        std::function<void()> run;
        bool has_returned = false;
    } state{std::move(run)};
    auto const body = [](void* given) -> void* {
        auto& here = *static_cast<shared*>(given);
        ::pthread_cancel(::pthread_self());
        here.run();
        here.has_returned = true;
        ::pthread_testcancel();
        return nullptr;
    };
    pthread_t thread{};
    void* end = nullptr;
    EXPECT_EQ(::pthread_create(&thread, nullptr, body, &state), 0);
    EXPECT_EQ(::pthread_join(thread, &end), 0);
    EXPECT_EQ(end, PTHREAD_CANCELED) << "cancelled afterwards";
    return state.has_returned;
}

} // namespace barmap::test
