// SPDX-License-Identifier: MIT
#include "transfer/engine/engine.hpp"

#include "contract/engine_machine.hpp"
#include "contract/machine.hpp"
#include "cuda/memory.hpp"
#include "fake/instant_engine.hpp"
#include "shared/changed_driver.hpp"
#include "system/region.hpp"
#include "transfer/engine/cuda_addresses.hpp"
#include "transfer/engine/engine_self_test.hpp"
#include "transfer/engine/held_memory.hpp"
#include "transfer/engine/transfer.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <numeric>
#include <random>
#include <thread>

/// The rules of core/src/transfer/engine/engine.hpp and of adaptive copies, over every engine: the
/// driver's on the simulated GPU, the channel on the fake of NVIDIA's kernel driver, which executes
/// what it is given.
namespace barmap::contract {
namespace {

using engine::copy_outcome;
using engine::direction;

// The batch tests have the other generations of this lane.
std::vector<engine_way> ways_of_every_lane() {
    std::vector<engine_way> result = held_ways();
    result.push_back({"driver_cuda", "driver", {}, engine::lane::cuda});
    result.push_back({"channel_cuda", "channel", {}, engine::lane::cuda});
    return result;
}

engine::ticket submit(engine::copy_engine& to, std::span<copy_piece const> pieces) {
    return to.submit(direction::to_cpu, pieces, 0, {});
}

engine::device_clock::time_point soon() {
    return engine::device_clock::now() + std::chrono::seconds(20);
}

/// What every engine promises in every lane.
class engine_test : public testing::TestWithParam<engine_way> {
protected:
    engine_machine machine_{GetParam().engine, GetParam().how};

    static std::unique_ptr<engine::copy_engine> started() {
        for (engine::copy_registration const& entry : engine::registry())
            if (entry.name == GetParam().engine) {
                auto made = entry.make(identify(0), GetParam().lane);
                made->start();
                return made;
            }
        return nullptr;
    }
};
INSTANTIATE_TEST_SUITE_P(ways, engine_test, over(ways_of_every_lane()), name_of_way);

/// What it promises in lane held alone.
class held_engine_test : public engine_test {};
INSTANTIATE_TEST_SUITE_P(ways, held_engine_test, over(held_ways()), name_of_way);

/// What only a channel of the library's own meets.
class channel_engine_test : public engine_test {};
INSTANTIATE_TEST_SUITE_P(ways, channel_engine_test,
                         testing::Values(held_ways().back(), ways_of_every_lane().back()),
                         name_of_way);

/// What only CUDA's own copies meet.
class driver_engine_test : public engine_test {};
INSTANTIATE_TEST_SUITE_P(ways, driver_engine_test,
                         testing::Values(ways_of_every_lane()[held_ways().size()]), name_of_way);

// As `barmap info` says it of the engine.
TEST_P(held_engine_test, holds_cuda_malloc_memory_as_it_is_told) {
    device const gpu = device::open(0);
    device_block const block(mib);
    unsigned seen = 0;
    for (engine_report const& each : gpu.pin(block.address(), mib).engines())
        if (each.name == GetParam().engine) {
            ++seen;
            EXPECT_EQ(each.state == backend_state::usable, engine::holds_cuda_malloc(each.name))
                << each.reason;
        }
    EXPECT_EQ(seen, 1u);
}

/// GPU memory and host memory that an engine reaches, and what should be in both.
struct reached_memory {
    explicit reached_memory(engine::copy_engine& which, std::size_t size)
        : bytes(size), block(size), host(os::region::shared_memory(size)),
          gpu_side(which.reach(cuda::describe(block.address(), size))),
          host_side(which.reach(std::span(host.data(), host.size()))) {}
    [[nodiscard]] std::span<std::byte> on_host() const { return {host.data(), bytes}; }
    [[nodiscard]] std::uint64_t gpu(std::size_t at = 0) const {
        return gpu_side->runs.front().address + at;
    }
    [[nodiscard]] std::uint64_t on_host_at(std::size_t at = 0) const {
        return host_side->runs.front().address + at;
    }
    std::size_t bytes;
    device_block block;
    os::region host;
    std::unique_ptr<engine::reachable> gpu_side, host_side;
};

TEST_P(engine_test, moves_pieces_of_odd_sizes_and_places_and_touches_no_others) {
    auto const which = started();
    constexpr std::size_t size = 4 * mib, pieces = 9000;
    reached_memory a(*which, size);
    std::mt19937 random(1);
    auto const gpu_bytes = pattern(size, 1), host_bytes = pattern(size, 2);
    for (direction const way : {direction::to_cpu, direction::to_gpu}) {
        write_by_driver(a.block.address(), gpu_bytes);
        std::ranges::copy(host_bytes, a.on_host().begin());
        std::vector<std::byte> gpu_wanted = gpu_bytes, host_wanted = host_bytes;
        std::vector<copy_piece> list;
        std::size_t host_at = 0;
        for (std::size_t i = 0; i < pieces; ++i) {
            // Disjoint on the side that is written: neither order nor overlap is promised.
            std::size_t const bytes = 1 + random() % 400;
            std::size_t const to = host_at + random() % 40;
            std::size_t const from = random() % (size - bytes);
            host_at = to + bytes;
            if (host_at > size)
                break;
            if (way == direction::to_cpu) {
                list.push_back({a.on_host_at(to), a.gpu(from), bytes});
                std::copy_n(gpu_bytes.begin() + from, bytes, host_wanted.begin() + to);
            } else {
                list.push_back({a.gpu(to), a.on_host_at(from), bytes});
                std::copy_n(host_bytes.begin() + from, bytes, gpu_wanted.begin() + to);
            }
        }
        engine::ticket const number = submit(*which, list);
        ASSERT_EQ(engine::wait(*which, number, soon()), copy_outcome::done);
        EXPECT_EQ(which->poll(number), engine::state::done);
        EXPECT_TRUE(same_bytes(a.on_host(), host_wanted));
        EXPECT_TRUE(read_by_driver(a.block.address(), size) == gpu_wanted);
    }
}

TEST_P(held_engine_test, keeps_the_order_of_submissions) {
    auto const which = started();
    reached_memory a(*which, 64 * kib);
    engine::ticket last = 0;
    // More than any ring holds: each copies what the one before has brought.
    for (unsigned i = 0; i < 400; ++i) {
        a.on_host()[0] = std::byte(i);
        copy_piece const there{a.gpu(i % 1000), a.on_host_at(0), 1};
        copy_piece const back{a.on_host_at(1), a.gpu(i % 1000), 1};
        engine::ticket const first = submit(*which, {&there, 1});
        engine::ticket const second = submit(*which, {&back, 1});
        EXPECT_LT(last, first);
        EXPECT_LT(first, second);
        last = second;
        ASSERT_EQ(engine::wait(*which, second, soon()), copy_outcome::done);
        EXPECT_EQ(which->poll(first), engine::state::done);
        ASSERT_EQ(a.on_host()[1], std::byte(i));
    }
}

TEST_P(engine_test, takes_submissions_without_waiting_for_them) {
    auto const which = started();
    reached_memory a(*which, mib);
    auto const sent = pattern(mib, 3);
    std::ranges::copy(sent, a.on_host().begin());
    engine::ticket last = 0;
    for (std::size_t at = 0; at < mib; at += 512) {
        copy_piece const next{a.gpu(at), a.on_host_at(at), 512};
        last = submit(*which, {&next, 1});
    }
    ASSERT_EQ(engine::wait(*which, last, soon()), copy_outcome::done);
    EXPECT_TRUE(read_by_driver(a.block.address(), mib) == sent);
}

// Else the memory of a chunk would stay when the program has freed it.
TEST_P(held_engine_test, keeps_no_reference_to_a_chunk) {
    auto const which = started();
    virtual_block const block(0, {2 * mib, 4 * mib});
    cuda::memory const memory = cuda::describe(block.address() + 100, 5 * mib);
    static int references;
    references = 0;
    changed_driver counting;
    counting->mem_retain_allocation_handle = [](auto... arguments) {
        CUresult const result = changed_driver::real.mem_retain_allocation_handle(arguments...);
        references += result == cuda::success;
        return result;
    };
    counting->mem_release = [](auto... arguments) {
        CUresult const result = changed_driver::real.mem_release(arguments...);
        references -= result == cuda::success;
        return result;
    };
    std::unique_ptr<engine::reachable> held = which->hold(memory);
    EXPECT_TRUE(held);
    EXPECT_EQ(references, 0) << "beside its own addresses";
    held.reset();
    EXPECT_EQ(references, 0);
}

TEST_P(engine_test, leaves_nothing_behind) {
    (void)started(); // what CUDA keeps after its first use
    fake::left_over const before = machine_->held();
    for (int i = 0; i < 3; ++i) {
        auto const which = started();
        reached_memory a(*which, 64 * kib);
        copy_piece const one{a.on_host_at(), a.gpu(), 4096};
        ASSERT_EQ(engine::wait(*which, submit(*which, {&one, 1}), soon()), copy_outcome::done);
    }
    EXPECT_EQ(machine_->held(), before);
}

TEST_P(engine_test, is_used_by_several_threads) {
    auto const which = started();
    constexpr std::size_t threads = 4, share = 64 * kib;
    reached_memory a(*which, threads * share);
    auto const sent = pattern(threads * share, 4);
    std::ranges::copy(sent, a.on_host().begin());
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            for (std::size_t at = 0; at < share; at += 1024) {
                copy_piece const next{a.gpu(t * share + at), a.on_host_at(t * share + at), 1024};
                EXPECT_EQ(engine::wait(*which, submit(*which, {&next, 1}), soon()),
                          copy_outcome::done);
            }
        });
    for (std::thread& each : all)
        each.join();
    EXPECT_TRUE(read_by_driver(a.block.address(), threads * share) == sent);
}

TEST_P(engine_test, says_where_a_submission_is) {
    auto const which = started();
    reached_memory a(*which, 4096);
    EXPECT_EQ(which->poll(0), engine::state::never_given);
    EXPECT_EQ(which->poll(1), engine::state::never_given);
    copy_piece const one{a.gpu(), a.on_host_at(), 8};
    engine::ticket const number = submit(*which, {&one, 1});
    ASSERT_EQ(engine::wait(*which, number, soon()), copy_outcome::done);
    EXPECT_EQ(which->poll(number + 1), engine::state::never_given);
    EXPECT_FALSE(which->has_stopped());
    EXPECT_TRUE(which->close());
    EXPECT_EQ(which->poll(number), engine::state::done) << "what was done stays done";
    EXPECT_TRUE(which->has_stopped());
    EXPECT_FALSE(which->why_it_stopped().empty());
}

TEST_P(channel_engine_test, tells_that_the_driver_has_stopped_it) {
    auto const which = started();
    reached_memory a(*which, 4096);
    copy_piece const one{a.gpu(), a.on_host_at(), 8};
    machine_.gpu().fail_next();
    engine::ticket const number = submit(*which, {&one, 1});
    EXPECT_EQ(engine::wait(*which, number, soon()), copy_outcome::failed);
    EXPECT_TRUE(which->has_stopped());
    EXPECT_FALSE(which->why_it_stopped().empty());
}

TEST_P(engine_test, closed_has_nothing_in_flight) {
    auto const which = started();
    reached_memory a(*which, 4 * mib);
    copy_piece const large{a.on_host_at(), a.gpu(), 4 * mib};
    engine::ticket last = 0;
    for (int i = 0; i < 20; ++i)
        last = submit(*which, {&large, 1});
    ASSERT_TRUE(which->close());
    EXPECT_NE(which->poll(last), engine::state::in_flight);
}

TEST_P(driver_engine_test, closed_says_so_if_one_queue_cannot_be_waited_for) {
    changed_driver failing;
    static int waits;
    waits = 0;
    auto const which = started();
    reached_memory a(*which, 4096);
    engine::stream_order behind_a_stream; // each direction has a queue for these
    behind_a_stream.after = nullptr;
    for (auto const& [way, one] :
         {std::pair(direction::to_gpu, copy_piece{a.gpu(), a.on_host_at(), 8}),
          std::pair(direction::to_cpu, copy_piece{a.on_host_at(), a.gpu(), 8})})
        ASSERT_EQ(engine::wait(*which, which->submit(way, {&one, 1}, 0, behind_a_stream), soon()),
                  copy_outcome::done);
    failing->stream_synchronize = [](CUstream stream) {
        constexpr CUresult launch_failed = 719;
        return ++waits == 1 ? launch_failed : changed_driver::real.stream_synchronize(stream);
    };
    EXPECT_FALSE(which->close());
    EXPECT_GE(waits, 2) << "all that can be waited for is";
}

TEST_P(engine_test, closed_takes_nothing_more) {
    auto const which = started();
    reached_memory a(*which, 4096);
    which->close();
    copy_piece const one{a.gpu(), a.on_host_at(), 8};
    EXPECT_EQ(refusal_of([&] {
                  (void)submit(*which, {&one, 1});
              }).code,
              make_error_code(errc::backend_broken));
    EXPECT_NE(engine::wait(*which, 1000, soon()), copy_outcome::done);
}

/// Copies one way, and takes the other for done.
class one_way_engine final : public fake::instant_engine {
public:
    explicit one_way_engine(direction works) : works_(works) {}
    std::unique_ptr<engine::reachable> reach(cuda::memory const& memory) override {
        return engine::reach_by_cuda(memory);
    }
    using instant_engine::reach;
    engine::ticket submit(direction way, std::span<copy_piece const> pieces, std::size_t bytes,
                          engine::stream_order const& order) override {
        for (copy_piece const& each : pieces)
            if (way == direction::to_gpu && works_ == way)
                expect_success(cuda::api().memcpy_htod(
                    each.to, reinterpret_cast<void const*>(each.from), each.bytes));
            else if (works_ == way)
                expect_success(cuda::api().memcpy_dtoh(reinterpret_cast<void*>(each.to), each.from,
                                                       each.bytes));
        return instant_engine::submit(way, pieces, bytes, order);
    }

private:
    direction works_;
};

// A copy that comes late would else go to memory that is another's.
TEST(engine_self_test, memory_stays_until_the_engine_is_closed) {
    engine_machine machine(nullptr);
    device const gpu = device::open(0);
    auto memory = engine::test_memory::make(identify(0));
    std::weak_ptr<engine::test_memory const> const left = memory;
    {
        engine::worker at_work(std::make_unique<one_way_engine>(direction::to_cpu));
        EXPECT_THROW(engine::self_test(at_work, memory), error);
        memory.reset();
        EXPECT_FALSE(left.expired());
    }
    EXPECT_TRUE(left.expired());
}

TEST(engine_self_test, finds_an_engine_that_copies_one_way) {
    engine_machine machine(nullptr);
    device const gpu = device::open(0);
    auto const memory = engine::test_memory::make(identify(0));
    auto const refusal = [&](direction works) {
        engine::worker at_work(std::make_unique<one_way_engine>(works));
        return refusal_of([&] { engine::self_test(at_work, memory); });
    };
    expect_refusal(refusal(direction::to_cpu), errc::backend_broken, "to the GPU");
    expect_refusal(refusal(direction::to_gpu), errc::backend_broken, "from the GPU");
}

} // namespace
} // namespace barmap::contract
