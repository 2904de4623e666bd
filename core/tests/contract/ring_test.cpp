// SPDX-License-Identifier: MIT
#include "contract/access_hook.hpp"
#include "contract/cpu_side.hpp"
#include "contract/sealed.hpp"

#include <barmap/gpu/warp_ring.cuh>
#include <barmap/ring.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

/// Rings, with a thread in the place of the kernel: it runs the GPU's side of the same headers.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;
using gpu::status;

using ring_test = with_either_side<contract_test>;
using ring_thread_test = with_either_side<signalling_threads>;

template <class Message>
void expect_all_to_arrive(device const& gpu, std::size_t slots, std::uint64_t first,
                          std::uint64_t count) {
    SCOPED_TRACE(testing::Message()
                 << sizeof(Message) << " bytes, " << slots << " slots, from " << first);
    arena const words(gpu, 1 << 20, 1 << 20);
    auto there = cpu_side<ring_to_gpu<Message>>::from(words, slots, first);
    auto back = cpu_side<ring_to_cpu<Message>>::from(words, slots, first);
    std::atomic<std::uint64_t> wrong{0};
    std::thread kernel([&, in = there.handle_for_thread(), out = back.handle_for_thread()] {
        gpu::consumer<Message> requests(in);
        gpu::producer<Message> answers(out);
        Message message{};
        for (std::uint64_t i = 0;; ++i) {
            status const got = requests.pop(message, patience);
            if (got != status::ok) {
                wrong += got != status::closed || i != count;
                break;
            }
            wrong += message != Message::of(first + i) || requests.number() != first + i + 1;
            wrong += answers.push(message, patience) != status::ok;
        }
        answers.close();
    });
    std::uint64_t sent = 0, received = 0;
    std::vector<Message> several;
    while (received < count) {
        several.clear();
        for (std::uint64_t i = sent; i < count && several.size() < 5; ++i)
            several.push_back(Message::of(first + i));
        sent += there.push_many(several);
        there.flush();
        while (auto const message = back.try_pop())
            wrong += *message != Message::of(first + received++);
    }
    there.close();
    kernel.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_FALSE(back.try_pop());
    EXPECT_TRUE(back.closed());
    EXPECT_FALSE(back.wait_for(1h)) << "it is closed";
}

TEST_P(ring_thread_test, messages_of_any_size_arrive_whole_and_in_order) {
    device const gpu = device::open(0);
    expect_all_to_arrive<sealed<1>>(gpu, 4, 0, 500);
    expect_all_to_arrive<sealed<8>>(gpu, 8, 0, 500);
    expect_all_to_arrive<sealed<9>>(gpu, 8, 0, 500);
    expect_all_to_arrive<sealed<32>>(gpu, 16, 0, 500);
    expect_all_to_arrive<sealed<33>>(gpu, 16, 0, 500);
    expect_all_to_arrive<sealed<56>>(gpu, 16, 0, 500);
    expect_all_to_arrive<sealed<57>>(gpu, 16, 0, 500);
    expect_all_to_arrive<sealed<200>>(gpu, 32, 0, 500);
}

TEST_P(ring_thread_test, one_slot_is_enough) {
    device const gpu = device::open(0);
    expect_all_to_arrive<sealed<24>>(gpu, 1, 0, 200);
    expect_all_to_arrive<sealed<100>>(gpu, 2, 0, 200);
}

// Where numbers begin is not for programs to say.
template <class Signal>
constexpr bool takes_first = std::is_constructible_v<Signal, arena const&, std::size_t, std::uint64_t>;
static_assert(!takes_first<ring_to_gpu<int>> && !takes_first<ring_to_cpu<int>>);

TEST_P(ring_thread_test, numbers_may_wrap) {
    device const gpu = device::open(0);
    for (std::uint64_t const edge :
         {std::uint64_t{1} << 32, std::uint64_t{1} << 63, std::uint64_t{0}})
        for (std::uint64_t const before : {1u, 3u, 8u, 20u})
            expect_all_to_arrive<sealed<24>>(gpu, 8, edge - before, 50);
}

TEST_P(ring_thread_test, many_threads_push_at_once) {
    device const gpu = device::open(0);
    constexpr std::uint64_t threads = 4, each = 300;
    struct numbered {
        std::uint64_t thread, number, seal;
    };
    cpu_side<ring_to_cpu<numbered>> ring(gpu, 8);
    std::atomic<unsigned> failed{0};
    std::vector<std::thread> kernel;
    for (std::uint64_t i = 0; i < threads; ++i)
        kernel.emplace_back([&, i, out = ring.handle_for_thread()] {
            for (std::uint64_t k = 0; k < each; ++k)
                failed += gpu::push(out, numbered{i, k, i ^ k}, patience) != status::ok;
        });
    std::array<std::uint64_t, threads> next{};
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < threads * each; ++i) {
        bool const is_there = ring.wait_for(60s);
        auto const message = ring.try_pop();
        if (!is_there || !message || message->thread >= threads) {
            ADD_FAILURE() << "message " << i;
            break;
        }
        wrong += message->number != next[message->thread]++ ||
                 message->seal != (message->thread ^ message->number);
    }
    for (std::thread& one : kernel)
        one.join();
    EXPECT_EQ(wrong, 0u) << "each thread's own are in order";
    EXPECT_EQ(failed, 0u);
    EXPECT_FALSE(ring.try_pop());
}

TEST_P(ring_thread_test, warps_move_several_at_a_time) {
    device const gpu = device::open(0);
    cpu_side<ring_to_gpu<sealed<40>>> there(gpu, 16);
    cpu_side<ring_to_cpu<sealed<8>>> back(gpu, 16);
    std::atomic<std::uint64_t> wrong{0};
    constexpr std::uint64_t count = 500;
    std::thread kernel([&, in = there.handle_for_thread(), out = back.handle_for_thread()] {
        gpu::warp_consumer<sealed<40>> requests(in);
        gpu::warp_producer<sealed<8>> answers(out);
        sealed<40> message{};
        unsigned found = 0;
        std::uint64_t number = 0;
        while (requests.pop(message, found, patience) == status::ok) {
            wrong += found != 1 || message != sealed<40>::of(number);
            wrong += answers.push(sealed<8>::of(number), 1, patience) != status::ok;
            wrong += requests.number() != ++number;
        }
        wrong += number != count;
        wrong += requests.pop(message, found) != status::closed;
        answers.close();
    });
    std::uint64_t sent = 0;
    for (std::uint64_t received = 0; received < count;) {
        if (sent < count)
            sent += there.try_push(sealed<40>::of(sent)) ? 1 : 0;
        there.flush();
        while (auto const answer = back.try_pop())
            wrong += *answer != sealed<8>::of(received++);
    }
    there.close();
    kernel.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_TRUE(back.closed());
}

TEST_P(ring_test, says_full_empty_and_timed_out) {
    device const gpu = device::open(0);
    using message = std::uint64_t;
    cpu_side<ring_to_gpu<message>> there(gpu, 4);
    cpu_side<ring_to_cpu<message>> back(gpu, 4);
    message value = 0;
    {
        gpu::consumer<message> in(there.handle_for_thread());
        EXPECT_EQ(in.pop(value), status::empty);
        EXPECT_EQ(in.pop(value, 200), status::timed_out);
        std::array<message, 7> const many{0, ~message{0}, 2, 3, 4, 5, 6};
        EXPECT_EQ(there.push_many(many), 4u);
        there.flush();
        EXPECT_EQ(there.depth(), 4u);
        EXPECT_FALSE(there.try_push(9));
        EXPECT_FALSE(there.wait_for(1ms));
        for (unsigned i = 0; i < 4; ++i) {
            EXPECT_EQ(in.pop(value), status::ok);
            EXPECT_EQ(value, many[i]) << "zeros and ones are messages as any other";
        }
        EXPECT_EQ(in.pop(value), status::empty);
        EXPECT_TRUE(there.wait_for(1ms));
        EXPECT_EQ(there.depth(), 0u);
        EXPECT_EQ(there.push_many(std::span(many).first(2)), 2u);
    }
    {
        gpu::producer<message> out(back.handle_for_thread());
        for (message i = 0; i < 4; ++i)
            EXPECT_EQ(out.push(i), status::ok);
        EXPECT_EQ(out.push(4), status::full);
        EXPECT_EQ(out.push(4, 200), status::timed_out);
        EXPECT_EQ(back.depth(), 4u);
    }
    EXPECT_EQ(gpu::push(back.handle_for_thread(), message{4}), status::full);
    EXPECT_EQ(gpu::push(back.handle_for_thread(), message{4}, 200), status::timed_out);
    std::array<message, 3> some{};
    EXPECT_EQ(back.pop_many(some), 3u);
    EXPECT_EQ(some, (std::array<message, 3>{0, 1, 2}));
    EXPECT_EQ(gpu::push(back.handle_for_thread(), message{4}), status::ok)
        << "who gave up has left no hole";
    EXPECT_EQ(back.pop_many(some), 2u);
    EXPECT_EQ(some[0], 3u);
    EXPECT_EQ(some[1], 4u);
    EXPECT_FALSE(back.wait_for(1ms));
}

TEST_P(ring_test, a_push_of_many_uses_credit_that_has_come_since_the_last_one) {
    cpu_side<ring_to_gpu<int>> ring(device::open(0), 4);
    std::array<int, 4> const many{1, 2, 3, 4};
    ASSERT_EQ(ring.push_many(std::span(many).first(3)), 3u); // it knows of room for one more
    ring.flush();
    {
        gpu::consumer<int> in(ring.handle_for_thread());
        int value = 0;
        for (int const each : std::span(many).first(3)) {
            EXPECT_EQ(in.pop(value), status::ok);
            EXPECT_EQ(value, each);
        }
    }
    EXPECT_EQ(ring.push_many(many), 4u);
}

/// Starts `Producer` over a ring of 4 slots, of which 3 hold messages that nobody has read.
template <class Producer, class... Count>
void expect_room_for_one(device const& gpu, Count... count) {
    cpu_side<ring_to_cpu<int>> ring(gpu, 4);
    {
        gpu::producer<int> before(ring.handle_for_thread());
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(before.push(i), status::ok);
    }
    {
        Producer next(ring.handle_for_thread());
        EXPECT_EQ(next.push(3, count...), status::ok);
        EXPECT_EQ(next.push(4, count...), status::full) << "no message is overwritten";
    }
    std::array<int, 5> found{};
    EXPECT_EQ(ring.pop_many(found), 4u);
    EXPECT_EQ(found, (std::array{0, 1, 2, 3, 0}));
}

TEST_P(ring_test, a_producer_that_takes_over_overwrites_nothing) {
    device const gpu = device::open(0);
    expect_room_for_one<gpu::producer<int>>(gpu);
    expect_room_for_one<gpu::warp_producer<int>>(gpu, 1u);
}

// A kernel may end, and another one go on: of the same stream, or a replay of the same graph.
TEST_P(ring_test, the_next_kernel_goes_on_where_one_has_ended) {
    device const gpu = device::open(0);
    using message = std::uint64_t;
    cpu_side<ring_to_gpu<message>> there(gpu, 8);
    cpu_side<ring_to_cpu<message>> back(gpu, 8);
    for (message i = 0; i < 6; ++i)
        EXPECT_TRUE(there.try_push(i));
    there.flush();
    message next = 0, value = 0;
    for (unsigned kernel = 0; kernel < 4; ++kernel) {
        gpu::consumer<message> in(there.handle_for_thread());
        gpu::producer<message> out(back.handle_for_thread());
        for (unsigned i = 0; i <= kernel && next < 6; ++i, ++next) {
            EXPECT_EQ(in.pop(value), status::ok);
            EXPECT_EQ(value, next);
            EXPECT_EQ(out.push(value * 10), status::ok);
        }
    }
    EXPECT_EQ(there.depth(), 0u) << "the end of a consumer returns all credits";
    for (message i = 0; i < 6; ++i)
        EXPECT_EQ(back.try_pop(), i * 10);
}

// Fewer than a warp returns credits for while it reads.
TEST_P(ring_test, the_end_of_a_warp_returns_all_credits) {
    cpu_side<ring_to_gpu<int>> ring(device::open(0), 8);
    EXPECT_TRUE(ring.try_push(5));
    ring.flush();
    {
        gpu::warp_consumer<int> in(ring.handle_for_thread());
        int value = 0;
        unsigned count = 0;
        EXPECT_EQ(in.pop(value, count), status::ok);
        EXPECT_EQ(value, 5);
        EXPECT_EQ(ring.depth(), 1u);
    }
    EXPECT_EQ(ring.depth(), 0u);
}

TEST_P(ring_test, closing_is_told_after_the_last_message) {
    device const gpu = device::open(0);
    using message = sealed<24>;
    cpu_side<ring_to_gpu<message>> there(gpu, 4);
    cpu_side<ring_to_cpu<message>> back(gpu, 4);
    message value{};
    EXPECT_FALSE(there.closed() || back.closed());
    EXPECT_TRUE(there.try_push(message::of(1)));
    there.close();
    gpu::consumer<message> in(there.handle_for_thread());
    EXPECT_EQ(in.pop(value), status::ok);
    EXPECT_EQ(value, message::of(1));
    EXPECT_EQ(in.pop(value), status::closed);
    EXPECT_EQ(in.pop(value, 1000), status::closed);
    EXPECT_FALSE(there.closed()) << "by the other side";
    in.close();
    EXPECT_TRUE(there.closed());

    {
        gpu::producer<message> out(back.handle_for_thread());
        EXPECT_EQ(out.push(message::of(2)), status::ok);
        out.close();
    }
    EXPECT_TRUE(back.closed());
    EXPECT_TRUE(back.wait_for(1ms));
    EXPECT_EQ(back.try_pop(), message::of(2));
    back.close();
    {
        gpu::producer<message> out(back.handle_for_thread());
        for (unsigned i = 0; i < 4; ++i)
            EXPECT_EQ(out.push(value), status::ok) << "there is room";
        EXPECT_EQ(out.push(value, 1000), status::closed);
    }
    EXPECT_EQ(gpu::push(back.handle_for_thread(), value), status::closed);
}

TEST_P(ring_test, nobody_waits_for_room_that_will_not_come) {
    cpu_side<ring_to_gpu<int>> ring(device::open(0), 2);
    std::array<int, 2> const two{1, 2};
    gpu::consumer<int> in(ring.handle_for_thread());
    EXPECT_EQ(ring.push_many(two), 2u);
    in.close();
    EXPECT_FALSE(ring.wait_for(1h)) << "it is closed, and full";
    int value = 0;
    EXPECT_EQ(in.pop(value), status::ok);
    EXPECT_EQ(in.pop(value), status::ok); // which returns the credit for the first message
    EXPECT_TRUE(ring.wait_for(1h)) << "closed or not, there is room";
}

/// The last message comes, and the end, after a consumer's last look for a message and before it
/// asks whether the ring is closed.
template <class Consumer, class... Count>
void expect_last_message(device const& gpu, Count... count) {
    cpu_side<ring_to_gpu<sealed<24>>> ring(gpu, 4);
    alignas(access_hook::page) static gpu::word control[access_hook::page / sizeof(gpu::word)];
    std::memset(control, 0, sizeof control);
    auto handle = ring.handle_for_thread();
    handle.control = control;
    Consumer in(handle);
    sealed<24> value{};
    {
        access_hook hook;
        hook.at(control, [&] {
            EXPECT_TRUE(ring.try_push(sealed<24>::of(1)));
            ring.flush();
            control[gpu::ring_words::closed_by_producer] = 1;
        });
        EXPECT_EQ(in.pop(value, count..., patience), status::ok);
    }
    EXPECT_EQ(value, sealed<24>::of(1));
    EXPECT_EQ(in.pop(value, count..., patience), status::closed);
}

TEST_P(ring_test, a_message_that_comes_with_the_end_is_read) {
    SKIP_WITHOUT_HOOK();
    device const gpu = device::open(0);
    unsigned count = 0;
    expect_last_message<gpu::consumer<sealed<24>>>(gpu);
    expect_last_message<gpu::warp_consumer<sealed<24>>>(gpu, std::ref(count));
}

// A process that dies in the middle of a push has stored some lines, and no commit word of others.
TEST_P(ring_test, half_a_message_is_none) {
    device const gpu = device::open(0);
    using message = sealed<150>; // three lines
    cpu_side<ring_to_gpu<message>> ring(gpu, 4);
    EXPECT_TRUE(ring.try_push(message::of(1)));
    ring.flush();
    gpu::ring_to_gpu<message> const handle = ring.handle_for_thread();
    gpu::consumer<message> in(handle);
    message value{};
    for (unsigned line = 0; line < 3; ++line) {
        gpu::word& commit = handle.slots[line * 8 + 7];
        gpu::word const whole = commit;
        commit = whole - 4; // of a lap before
        EXPECT_EQ(in.pop(value), status::empty) << line;
        commit = whole;
    }
    EXPECT_EQ(in.pop(value), status::ok);
    EXPECT_EQ(value, message::of(1));
}

TEST_P(ring_test, slots_are_a_power_of_two) {
    device const gpu = device::open(0);
    for (std::size_t const slots : {std::size_t{0}, std::size_t{3}, std::size_t{1} << 33}) {
        expect_refusal([&] { ring_to_gpu<int> const ring(gpu, slots); }, errc::invalid_argument,
                       "a power of two");
        expect_refusal([&] { ring_to_cpu<int> const ring(gpu, slots); }, errc::invalid_argument,
                       "a power of two");
    }
    arena const small(gpu, 4096, 4096);
    expect_refusal([&] { ring_to_gpu<int> const ring(small, 128); }, errc::out_of_range,
                   "make the arena larger");
    ring_to_gpu<int> const fits(small, 32);
}

TEST_P(ring_test, messages_have_1_byte_to_1_MiB) {
    arena const words(device::open(0), 4096, 4096);
    constexpr std::size_t most = std::size_t{1} << 20;
    for (std::size_t const bytes : {std::size_t{0}, most + 1}) {
        expect_refusal([&] { detail::byte_ring_to_gpu const ring(words, bytes, 4); },
                       errc::invalid_argument, "1 byte to 1 MiB");
        expect_refusal([&] { detail::byte_ring_to_cpu const ring(words, bytes, 4); },
                       errc::invalid_argument, "1 byte to 1 MiB");
    }
    arena const large(device::open(0), 2 * most, 2 * most);
    detail::byte_ring_to_gpu ring(large, most, 1);
    detail::byte_ring_to_cpu const back(large, most, 1);
    std::vector<std::byte> const message(most);
    EXPECT_EQ(ring.push_many(message), 1u);
}

TEST_P(ring_test, a_ring_outlives_its_arena_and_leaves_nothing) {
    auto const before = the_machine().held();
    {
        std::optional<arena> words(std::in_place, device::open(0), 4096, 4096);
        ring_to_gpu<int> ring(*words, 4);
        words.reset();
        EXPECT_TRUE(ring.try_push(17));
        ring.flush();
        gpu::consumer<int> in(ring.handle_for_thread());
        int value = 0;
        EXPECT_EQ(in.pop(value), status::ok);
        EXPECT_EQ(value, 17);
    }
    EXPECT_EQ(the_machine().held(), before);
}

BARMAP_OVER_SIDES(ring_test);
BARMAP_OVER_SIDES(ring_thread_test);

} // namespace
} // namespace barmap::contract
