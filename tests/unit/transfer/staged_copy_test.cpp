// SPDX-License-Identifier: MIT
#include "access_trace.hpp"
#include "transfer/engine/transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

/// Which barrier stands between the CPU's accesses to staging memory and the engine's, in the
/// instructions that are executed.
namespace barmap::engine {
namespace {

struct known_memory final : reachable {
    explicit known_memory(std::span<std::byte> memory) {
        runs.push_back({0, memory.size(), reinterpret_cast<std::uintptr_t>(memory.data())});
    }
};

/// An engine that copies nothing. A PAUSE in the trace says that it was given a copy, or waited for.
class noted_engine final : public copy_engine {
public:
    explicit noted_engine(std::span<std::byte>& staging) : staging_(staging) {}

    void start() override {}
    std::unique_ptr<reachable> reach(cuda::memory const&) override { return nullptr; }
    std::unique_ptr<reachable> reach(std::span<std::byte> pages) override {
        staging_ = pages;
        return std::make_unique<known_memory>(pages);
    }
    std::unique_ptr<reachable> reach_pinned(std::span<std::byte>) override { return nullptr; }
    ticket submit(std::span<piece const>) override {
        __asm__ volatile("pause" ::: "memory");
        return ++last_;
    }
    bool is_done(ticket) noexcept override { return true; }
    outcome wait(ticket, deadline) noexcept override {
        __asm__ volatile("pause" ::: "memory");
        return outcome::done;
    }
    bool close() noexcept override { return true; }

private:
    std::span<std::byte>& staging_;
    ticket last_ = 0;
};

std::string order_of(direction which) {
    std::span<std::byte> staging;
    worker at_work(std::make_unique<noted_engine>(staging));
    std::array<std::byte, 256> gpu{}, host{};
    known_memory const reached(gpu);
    outcome result = outcome::failed;
    std::string seen = copy::trace_order(staging, [&] {
        result = at_work.copy_staged(which, reached, 0, host.data(), host.size());
    });
    EXPECT_EQ(result, outcome::done);
    std::erase(seen, 'K'); // of locks
    std::erase(seen, 'L'); // of reading the clock
    return seen;
}

// The CPU may store to staging memory past its caches: such stores need SFENCE before another
// thread or the GPU is told of them.
TEST(staged_copy_test, what_the_cpu_stores_is_there_before_others_are_told) {
    if (copy::why_no_trace())
        GTEST_SKIP() << copy::why_no_trace();
    EXPECT_EQ(order_of(direction::to_gpu), "aSPP") << "before the engine is given the copy";
    EXPECT_EQ(order_of(direction::to_cpu), "PPaS") << "before the copy returns";
}

} // namespace
} // namespace barmap::engine
