// SPDX-License-Identifier: MIT
#include "contract/sealed.hpp"
#include "contract/ways_that_share.hpp"
#include "shared/peer.hpp"
#include "system/fd.hpp"

#include <barmap/ring.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <thread>
#include <vector>

/// Processes that are killed while they use a ring.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;
using gpu::status;
using test::line;

constexpr std::uint64_t patience_of_kernels = 60'000'000'000;

/// A number that all processes see.
struct shared_number {
    shared_number()
        : value(new (::mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<std::uint64_t>(0)) {}
    shared_number(shared_number const&) = delete;
    shared_number& operator=(shared_number const&) = delete;
    ~shared_number() { ::munmap(value, sizeof *value); }
    std::atomic<std::uint64_t>* value;
};

/// Peers are forked before there is a GPU, so that they have nothing of CUDA.
class killed_peer_test : public simulated_gpu_alone {
protected:
    void SetUp() override {}
    void start_gpu() { simulated_gpu_alone::SetUp(); }

    template <std::size_t Bytes>
    void kill_producers();
};

template <std::size_t Bytes>
void killed_peer_test::kill_producers() {
    using message = sealed<Bytes>;
    std::vector<std::unique_ptr<peer>> peers;
    for (int i = 0; i < 12; ++i)
        peers.push_back(std::make_unique<peer>([](line const& to_test) {
            auto ring = ring_to_gpu<message>::open_shared(to_test.receive_descriptor());
            for (;;) {
                std::vector<message> several;
                for (std::uint64_t k = 0; k < 3; ++k)
                    several.push_back(message::of(ring.number() + k));
                (void)ring.push_many(several);
                ring.flush();
                (void)ring.wait_for(1s);
            }
        }));
    start_gpu();
    ring_to_gpu<message> ring(device::open(0), 16);
    std::atomic<std::uint64_t> popped{0}, wrong{0};
    std::atomic<status> last{status::ok};
    std::thread kernel([&, in = ring.handle_for_thread()] {
        gpu::consumer<message> messages(in);
        message value{};
        while ((last = messages.pop(value, patience_of_kernels)) == status::ok) {
            wrong += value != message::of(popped);
            ++popped;
        }
    });
    for (std::size_t i = 0; i < peers.size(); ++i) {
        std::uint64_t const before = popped;
        os::fd const descriptor(ring.share());
        peers[i]->send_descriptor(descriptor.get());
        while (popped < before + 100 + 7 * i && last == status::ok)
            std::this_thread::yield();
        peers[i]->kill();
    }
    auto next = ring_to_gpu<message>::open_shared(os::fd(ring.share()).get());
    EXPECT_TRUE(next.wait_for(60s));
    EXPECT_TRUE(next.try_push(message::of(next.number())));
    ring.close(); // the owner tells the kernel for those that cannot
    kernel.join();
    EXPECT_EQ(last, status::closed);
    EXPECT_EQ(popped, next.number()) << "no message is lost";
    EXPECT_EQ(wrong, 0u);
}

TEST_F(killed_peer_test, producers_of_small_messages_go_on_for_each_other) {
    kill_producers<24>();
}

TEST_F(killed_peer_test, producers_of_large_messages_go_on_for_each_other) {
    kill_producers<150>();
}

TEST_F(killed_peer_test, consumers_go_on_for_each_other) {
    using message = sealed<24>;
    constexpr std::uint64_t slots = 16, quarter = slots / 4;
    shared_number first, popped, wrong;
    std::vector<std::unique_ptr<peer>> peers;
    for (int i = 0; i < 12; ++i)
        peers.push_back(std::make_unique<peer>([&](line const& to_test) {
            auto ring = ring_to_cpu<message>::open_shared(to_test.receive_descriptor());
            *first.value = ring.number();
            for (;;) {
                std::uint64_t const number = ring.number();
                if (auto const value = ring.try_pop()) {
                    *wrong.value += *value != message::of(number);
                    *popped.value = number + 1;
                }
            }
        }));
    start_gpu();
    ring_to_cpu<message> ring(device::open(0), slots);
    std::atomic<bool> stop{false};
    std::thread kernel([&, out = ring.handle_for_thread()] {
        gpu::producer<message> messages(out);
        for (std::uint64_t i = 0; !stop;)
            if (messages.push(message::of(i), 1'000'000) == status::ok)
                ++i;
    });
    for (std::size_t i = 0; i < peers.size(); ++i) {
        std::uint64_t const before = *popped.value;
        os::fd const descriptor(ring.share());
        peers[i]->send_descriptor(descriptor.get());
        auto const until = std::chrono::steady_clock::now() + 60s;
        while (*popped.value < before + 100 + 7 * i && std::chrono::steady_clock::now() < until)
            std::this_thread::yield();
        peers[i]->kill();
        EXPECT_GT(*popped.value, before);
        EXPECT_LE(*first.value, before + 1) << "of which it may not have told";
        EXPECT_GE(*first.value + quarter, before);
    }
    stop = true;
    kernel.join();
    EXPECT_EQ(*wrong.value, 0u);
}

TEST_F(killed_peer_test, nobody_waits_for_a_killed_owner) {
    using message = sealed<150>;
    peer owner([&](line const& to_test) {
        start_gpu();
        device const gpu = device::open(0);
        ring_to_gpu<message> there(gpu, 8);
        ring_to_cpu<message> back(gpu, 8);
        to_test.send_descriptor(os::fd(there.share()).get());
        to_test.send_descriptor(os::fd(back.share()).get());
        gpu::consumer<message> in(there.handle_for_thread());
        gpu::producer<message> out(back.handle_for_thread());
        for (message value{};;)
            if (in.pop(value, 1'000'000) == status::ok)
                (void)out.push(value, patience_of_kernels);
    });
    set_environment("BARMAP_SIM", "1"); // which need not be a GPU's
    auto there = ring_to_gpu<message>::open_shared(os::fd(owner.receive_descriptor()).get());
    auto back = ring_to_cpu<message>::open_shared(os::fd(owner.receive_descriptor()).get());
    for (std::uint64_t i = 0; i < 200; ++i) {
        ASSERT_TRUE(there.try_push(message::of(i)));
        there.flush();
        ASSERT_TRUE(back.wait_for(60s));
        EXPECT_EQ(back.try_pop(), message::of(i));
    }
    owner.kill();
    for (std::uint64_t i = 0; there.try_push(message::of(i)); ++i)
        ASSERT_LT(i, 8u);
    there.flush();
    EXPECT_FALSE(there.wait_for(10ms) || back.wait_for(10ms) || back.try_pop());
    there.close();
    back.close();
}

} // namespace
} // namespace barmap::contract
