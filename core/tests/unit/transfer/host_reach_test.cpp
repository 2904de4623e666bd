// SPDX-License-Identifier: MIT
#include "transfer/host_reach.hpp"

#include "fake/instant_engine.hpp"

#include <barmap/error.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace barmap {
namespace {

/// Counts what it reaches.
class counting_engine final : public fake::instant_engine {
public:
    explicit counting_engine(unsigned& reached) : reached_(reached) {}
    std::function<void()> meanwhile; ///< run once, while memory is being reached
    bool refuses = false;

    std::unique_ptr<engine::reachable> reach_pinned(std::span<std::byte> memory) override {
        ++reached_;
        if (refuses)
            throw error(errc::unsupported_memory, "reach host memory", "", "");
        if (auto const run = std::exchange(meanwhile, nullptr))
            run();
        return reach(memory);
    }

private:
    unsigned& reached_;
};

class host_reach_test : public testing::Test {
protected:
    /// An engine at work.
    struct one_engine {
        unsigned reached = 0;
        counting_engine* engine = nullptr;
        std::shared_ptr<engine::worker> worker;
        one_engine() {
            auto made = std::make_unique<counting_engine>(reached);
            engine = made.get();
            worker = std::make_shared<engine::worker>(std::move(made));
        }
    };

    host_reach_test() {
        for (std::vector<std::byte>& each : memory_)
            pinned_.add(each);
    }
    std::size_t find(one_engine const& by, std::size_t which) {
        std::byte* const host = memory_[which].data();
        return pinned_.find(by.worker, pinned_.describe(host), host, 100).runs().size();
    }

    host_reach pinned_; // goes before the memory, as the library's
    std::vector<std::vector<std::byte>> memory_{3, std::vector<std::byte>(4096)};
};

TEST_F(host_reach_test, each_engine_reaches_memory_once) {
    one_engine first, second;
    for (int i = 0; i < 5; ++i)
        for (std::size_t which = 0; which < memory_.size(); ++which) {
            EXPECT_EQ(find(first, which), 1u);
            EXPECT_EQ(find(second, which), 1u);
        }
    EXPECT_EQ(first.reached, memory_.size());
    EXPECT_EQ(second.reached, memory_.size());
}

// As memory of a device, which CUDA registers and a channel refuses: each try is a call of the
// driver.
TEST_F(host_reach_test, memory_out_of_an_engines_reach_is_tried_once) {
    one_engine by, other;
    by.engine->refuses = true;
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(find(by, 0), 0u);
    EXPECT_EQ(by.reached, 1u);
    EXPECT_EQ(find(by, 1), 0u) << "of each allocation";
    EXPECT_EQ(by.reached, 2u);
    EXPECT_EQ(find(other, 0), 1u) << "by each engine";
    by.engine->refuses = false;
    EXPECT_EQ(find(by, 0), 0u);
    EXPECT_EQ(by.reached, 2u);
}

TEST_F(host_reach_test, an_engine_that_was_retired_is_not_kept) {
    one_engine failed, next;
    EXPECT_EQ(find(failed, 0), 1u);
    EXPECT_TRUE(engine::worker::retire(failed.worker, std::chrono::seconds(60)));
    std::weak_ptr<engine::worker> const left = failed.worker;
    failed.worker.reset();
    EXPECT_EQ(find(next, 1), 1u);
    while (left.use_count() > 0) // the thread that has stopped it may hold it for a moment
        std::this_thread::yield();
}

TEST_F(host_reach_test, recalls_what_was_found_and_tells_whether_it_is_still_that) {
    one_engine by, other;
    std::byte* const host = memory_[0].data();
    auto const recalled = [&](std::size_t at, std::size_t bytes) {
        return pinned_.recall(*by.worker, host + at, bytes).runs().size();
    };
    EXPECT_EQ(recalled(0, 100), 0u) << "never found";
    EXPECT_EQ(find(by, 0), 1u);
    EXPECT_EQ(recalled(0, 4096), 1u);
    EXPECT_EQ(recalled(4000, 96), 1u);
    EXPECT_EQ(recalled(4000, 97), 0u) << "beyond its end";
    EXPECT_EQ(pinned_.recall(*other.worker, host, 100).runs().size(), 0u);
    EXPECT_EQ(by.reached, 1u);

    host_reach::place const place = pinned_.recall(*by.worker, host, 100);
    EXPECT_TRUE(place.is_in(pinned_.describe(host)));
    EXPECT_FALSE(place.is_in(pinned_.describe(memory_[1].data())));
    EXPECT_FALSE(place.is_in({}));
    pinned_.remove(host);
    EXPECT_EQ(recalled(0, 100), 0u);
    pinned_.add(memory_[0]); // the same addresses, pinned anew
    EXPECT_FALSE(place.is_in(pinned_.describe(host)));
}

// To reach memory takes calls of the driver.
TEST_F(host_reach_test, nobody_waits_while_an_engine_reaches_memory) {
    one_engine slow, other;
    EXPECT_EQ(find(other, 1), 1u);
    std::future<std::size_t> found;
    slow.engine->meanwhile = [&] {
        found = std::async(std::launch::async, [&] { return find(other, 1) + find(other, 2); });
        EXPECT_EQ(found.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    };
    EXPECT_EQ(find(slow, 0), 1u);
    EXPECT_EQ(found.get(), 2u);
}

} // namespace
} // namespace barmap
