// SPDX-License-Identifier: MIT
#include "access_trace.hpp"
#include "contract/machine.hpp"

#include <barmap/counter.hpp>
#include <barmap/ring.h>
#include <barmap/ring.hpp>
#include <barmap/rpc.hpp>

#include <optional>
#include <string>
#include <vector>

/// What rings and other signals store to the GPU, and in which order: by single-stepping (x86-64).
namespace barmap::contract {
namespace {

class ring_order_test : public contract_test {
protected:
    void SetUp() override {
        if (copy::why_no_trace())
            GTEST_SKIP() << copy::why_no_trace();
        contract_test::SetUp();
    }
    /// Barriers as letters, and accesses as their offsets in the pages from `first` on.
    template <class Run>
    static std::string steps(std::byte* first, std::size_t bytes, Run run) {
        std::string result;
        for (copy::traced_step const& each : copy::trace_steps({first, bytes}, true, run)) {
            if (!result.empty())
                result += ' ';
            if (each.what == copy::step::access)
                result += std::to_string(each.at);
            else
                result += static_cast<char>(each.what);
        }
        return result;
    }
};

struct message {
    std::uint64_t words[7];
};
struct small {
    std::uint64_t words[4];
};
struct large {
    std::uint64_t words[9];
};

constexpr std::size_t page = 4096;

bool goes_by_lines(arena const& words) {
    return detail::head(words.take_gpu(64).window()).direct_lines;
}

TEST_P(ring_order_test, the_commit_word_leaves_after_the_message) {
    device const gpu = device::open(0);
    arena const words(gpu, 4 * page, page);
    // The first parts of their arena, so that they begin on a page.
    ring_to_gpu<message> ring(words, 32); // half a page
    std::byte* const slots = reinterpret_cast<std::byte*>(ring.handle_for_thread().slots);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(slots) % page, 0u);
    bool const by_lines = goes_by_lines(words);
    auto const seen = [&](auto run) { return steps(slots, 4 * page, run); };
    bool pushed = false;
    message const sent{{1, 2, 3, 4, 5, 6, 7}};
    EXPECT_EQ(seen([&] { pushed = ring.try_push(sent); }),
              by_lines ? "0" : "0 8 16 24 32 40 48 S 56");
    EXPECT_TRUE(pushed);
    std::vector<message> const two(2, sent);
    std::size_t count = 0;
    EXPECT_EQ(seen([&] { count = ring.push_many(two); }),
              by_lines ? "64 128" : "64 72 80 88 96 104 112 128 136 144 152 160 168 176 S 120 184")
        << "one barrier for all";
    EXPECT_EQ(count, 2u);
    EXPECT_EQ(seen([&] { count = ring.push_many({}); }), "");
    EXPECT_EQ(seen([&] { ring.flush(); }), by_lines ? "" : "S") << "direct stores wait for nothing";
    EXPECT_EQ(seen([&] { ring.close(); }), "S 2048 S") << "after all messages, and at once";
}

TEST_P(ring_order_test, each_word_of_a_small_message_has_a_commit_word) {
    device const gpu = device::open(0);
    arena const words(gpu, 4 * page, page);
    ring_to_gpu<small> ring(words, 64);
    std::byte* const slots = reinterpret_cast<std::byte*>(ring.handle_for_thread().slots);
    bool pushed = false;
    EXPECT_EQ(steps(slots, 4 * page, [&] { pushed = ring.try_push({}); }),
              goes_by_lines(words) ? "0" : "0 16 32 48 S 8 24 40 56");
    EXPECT_TRUE(pushed);
}

TEST_P(ring_order_test, each_line_has_a_commit_word) {
    device const gpu = device::open(0);
    arena const words(gpu, 4 * page, page);
    ring_to_gpu<large> ring(words, 32);
    std::byte* const slots = reinterpret_cast<std::byte*>(ring.handle_for_thread().slots);
    bool pushed = false;
    EXPECT_EQ(steps(slots, 4 * page, [&] { pushed = ring.try_push({}); }),
              goes_by_lines(words) ? "0 64" : "0 8 16 24 32 40 48 64 72 S 56 120");
    EXPECT_TRUE(pushed);
}

// That messages arrive by barmap_ring_to_gpu_flush() is not seen where memory is cached.
TEST_P(ring_order_test, the_c_interface_has_the_same_barriers) {
    alignas(page) static std::byte elsewhere[page];
    auto const barriers = [](auto run) { return steps(elsewhere, page, run); };
    barmap_device* device = nullptr;
    barmap_ring_to_gpu* ring = nullptr;
    ASSERT_EQ(barmap_device_create(0, &device), BARMAP_OK) << barmap_error_message();
    ASSERT_EQ(barmap_ring_to_gpu_create(device, nullptr, sizeof(message), 32, nullptr, &ring), BARMAP_OK)
        << barmap_error_message();
    message const sent[2] = {};
    std::size_t count = 0;
    bool const by_lines = goes_by_lines(arena(device::open(0), page, 0));
    EXPECT_EQ(barriers([&] { count = barmap_ring_to_gpu_push(ring, sent, 2); }), by_lines ? "" : "S");
    EXPECT_EQ(count, 2u);
    EXPECT_EQ(barriers([&] { barmap_ring_to_gpu_flush(ring); }), by_lines ? "" : "S");
    EXPECT_EQ(barriers([&] { barmap_ring_to_gpu_close(ring); }), "S S");
    barmap_ring_to_gpu_destroy(ring);
    barmap_device_destroy(device);
}

// Nothing is asked of the GPU to find out whether there is room, or a message.
TEST_P(ring_order_test, nobody_reads_through_the_mapping) {
    device const gpu = device::open(0);
    arena const words(gpu, 4 * page, page);
    ring_to_cpu<message> back(words, 4);
    ring_to_gpu<message> there(words, 4);
    std::byte* const first = words.take_gpu(128).data();
    std::byte* const begin = first - reinterpret_cast<std::uintptr_t>(first) % page;
    message value{};
    for (int i = 0; i < 4; ++i)
        (void)there.try_push(value);
    bool done = true;
    EXPECT_EQ(steps(begin, page,
                    [&] {
                        done = there.try_push(value) || there.wait_for({}) || back.try_pop() ||
                               back.wait_for({}) || there.depth() != 4 || back.depth() != 0 ||
                               there.closed() || back.closed();
                    })
                  .find_first_not_of("P "),
              std::string::npos);
    EXPECT_FALSE(done);
}

TEST_P(ring_order_test, credits_leave_at_once) {
    device const gpu = device::open(0);
    arena const words(gpu, page, page);
    ring_to_cpu<message> ring(words, 4);
    std::byte* const credits = reinterpret_cast<std::byte*>(ring.handle_for_thread().credits);
    {
        gpu::producer<message> out(ring.handle_for_thread());
        EXPECT_EQ(out.push({}), gpu::status::ok);
    }
    bool popped = false;
    EXPECT_EQ(steps(credits, page, [&] { popped = ring.try_pop().has_value(); }), "0 S");
    EXPECT_TRUE(popped);
    EXPECT_EQ(steps(credits, page, [&] { ring.close(); }), "S 8 S");
}

TEST_P(ring_order_test, counters_leave_after_what_was_written) {
    device const gpu = device::open(0);
    arena const words(gpu, page, page);
    auto* const first = words.take_gpu(64).data();
    std::optional<counter_to_gpu> counter;
    std::string const made = steps(first, page, [&] { counter.emplace(words, 3); });
    EXPECT_TRUE(made.ends_with("S 0 S")) << made;
    EXPECT_EQ(steps(first, page, [&] { counter->advance(4); }), "S 0 S");
}

TEST_P(ring_order_test, answers_leave_after_what_was_written) {
    device const gpu = device::open(0);
    arena const words(gpu, page, page);
    auto* const replies = words.take_gpu(64).data();
    rpc_to_cpu<small, message> calls(words, 2);
    bool const by_lines = goes_by_lines(arena(gpu, page, 0));
    EXPECT_EQ(steps(replies, page, [&] { calls.reply(1, {}); }),
              by_lines ? "S 64" : "S 64 72 80 88 96 104 112 S 120 S");
    EXPECT_EQ(steps(replies, page, [&] { calls.close(); }), "S 256 S") << "behind all answers";
}

class coherent_order_test : public ring_order_test {};

TEST_P(coherent_order_test, coherent_memory_needs_no_barriers) {
    device const gpu = device::open(0);
    arena const words(gpu, 4 * page, page);
    auto* const first = words.take_gpu(64).data();
    ring_to_gpu<message> ring(words, 32); // half a page
    counter_to_gpu counter(words);
    bool pushed = false;
    EXPECT_EQ(steps(first, 4 * page, [&] { pushed = ring.try_push({}); }), "0 8 16 24 32 40 48 56");
    EXPECT_TRUE(pushed);
    EXPECT_EQ(steps(first, 4 * page, [&] { ring.flush(); }), "");
    EXPECT_EQ(steps(first, 4 * page, [&] { counter.advance(1); }).find('S'), std::string::npos);
}

/// Memory by a fake driver, which is write-combining, and by one that is cached.
std::vector<way> by(char const* name) {
    std::vector<way> result;
    for (way const& each : all_ways())
        if (std::string(name_of(each)) == name)
            result.push_back(each);
    return result;
}

INSTANTIATE_TEST_SUITE_P(ways, ring_order_test, testing::ValuesIn(by("gdrdrv_2_6")),
                         [](auto const& info) { return name_of(info.param); });
INSTANTIATE_TEST_SUITE_P(ways, coherent_order_test, testing::ValuesIn(by("dmabuf")),
                         [](auto const& info) { return name_of(info.param); });

} // namespace
} // namespace barmap::contract
