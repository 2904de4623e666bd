// SPDX-License-Identifier: MIT
#include "access_trace.hpp"
#include "fake/instant_engine.hpp"
#include "transfer/engine/transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

/// Which barrier stands between the CPU's accesses to staging memory and the engine's, in the
/// instructions that are executed.
namespace barmap::engine {
namespace {

/// An engine that copies nothing. A PAUSE in the trace says that it was given a copy, or waited for.
class noted_engine final : public fake::instant_engine {
public:
    explicit noted_engine(std::span<std::byte>& staging) : staging_(staging) {}

    std::unique_ptr<reachable> reach(std::span<std::byte> pages) override {
        staging_ = pages;
        return std::make_unique<fake::known_memory>(pages);
    }
    ticket submit(direction, std::span<copy_piece const>, std::size_t,
                  stream_order const&) override {
        __asm__ volatile("pause" ::: "memory");
        return ++last_;
    }
    [[nodiscard]] state poll(ticket) noexcept override {
        __asm__ volatile("pause" ::: "memory");
        return state::done;
    }

private:
    std::span<std::byte>& staging_;
};

std::string order_of(direction which) {
    std::span<std::byte> staging;
    worker at_work(std::make_unique<noted_engine>(staging));
    std::array<std::byte, 256> gpu{}, host{};
    fake::known_memory const reached(gpu);
    copy_outcome result = copy_outcome::failed;
    std::string seen = copy::trace_order(staging, [&] {
        result = at_work.copy_staged(which, reached, 0, host.data(), host.size());
    });
    EXPECT_EQ(result, copy_outcome::done);
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

/// An engine that copies no earlier than it is waited for.
class late_engine final : public fake::instant_engine {
public:
    ticket submit(direction, std::span<copy_piece const> pieces, std::size_t,
                  stream_order const&) override {
        given_.emplace_back(pieces.begin(), pieces.end());
        return ++last_;
    }
    [[nodiscard]] state poll(ticket number) noexcept override {
        for (; done_ < number; ++done_)
            for (copy_piece const& each : given_[done_])
                std::memcpy(reinterpret_cast<void*>(each.to),
                            reinterpret_cast<void const*>(each.from), each.bytes);
        return state::done;
    }

private:
    std::vector<std::vector<copy_piece>> given_;
    ticket done_ = 0;
};

// More chunks than the staging memory holds at once.
TEST(staged_copy_test, no_chunk_takes_the_place_of_one_that_is_not_copied_yet) {
    constexpr std::size_t bytes = (std::size_t{5} << 20) + 3;
    std::vector<std::byte> gpu(bytes), host(bytes), sent(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        sent[i] = static_cast<std::byte>(i * 7 + i / 4099);
    host = sent;
    worker at_work(std::make_unique<late_engine>());
    fake::known_memory const reached(gpu);
    EXPECT_EQ(at_work.copy_staged(direction::to_gpu, reached, 0, host.data(), bytes),
              copy_outcome::done);
    EXPECT_TRUE(gpu == sent);
    host.assign(bytes, std::byte{});
    EXPECT_EQ(at_work.copy_staged(direction::to_cpu, reached, 0, host.data(), bytes),
              copy_outcome::done);
    EXPECT_TRUE(host == sent);
}

/// An engine that takes longer than a copy of a few bytes may, or that never ends.
class slow_engine final : public fake::instant_engine {
public:
    explicit slow_engine(bool ends) : ends_(ends) {}
    ticket submit(direction, std::span<copy_piece const>, std::size_t,
                  stream_order const&) override {
        end_ = ends_ ? device_clock::now() + 2 * usual_patience : device_clock::time_point::max();
        return ++last_;
    }
    [[nodiscard]] state poll(ticket) noexcept override {
        return device_clock::now() < end_ ? state::in_flight : state::done;
    }

private:
    bool ends_;
    device_clock::time_point end_;
};

TEST(direct_copy_test, may_take_the_time_of_its_bytes) {
    worker large(std::make_unique<slow_engine>(true)), small(std::make_unique<slow_engine>(false));
    reachable gpu;
    constexpr std::size_t bytes = std::size_t{8} << 30; // 40 s
    gpu.runs = {{0, bytes, 0x1000}};
    auto const copy = [&](worker& by, std::size_t some) {
        std::array const host{reachable::run{0, some, 0x2000}};
        return by.copy_direct(direction::to_gpu, gpu, 0, host);
    };
    EXPECT_EQ(copy(large, bytes), copy_outcome::done);
    EXPECT_NE(copy(small, 64), copy_outcome::done);
}

} // namespace
} // namespace barmap::engine
