// SPDX-License-Identifier: MIT
#include "transfer/engine/engine.hpp"

#include "base/region.hpp"
#include "contract/engine_machine.hpp"
#include "contract/machine.hpp"
#include "driver/cuda/memory.hpp"
#include "transfer/engine/transfer.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <numeric>
#include <random>
#include <thread>

/// The rules of src/transfer/engine/engine.hpp and of adaptive copies, over every engine: the driver's on
/// the simulated GPU, the channel on the fake of NVIDIA's kernel driver, which executes what it is
/// given.
namespace barmap::contract {
namespace {

using engine::direction;
using engine::outcome;
using engine::piece;

struct engine_way {
    char const* name;
    char const* engine;
    fake::rm_driver::behaviour how;
};

void PrintTo(engine_way const& which, std::ostream* out) {
    *out << which.name;
}

// Every generation, and every structure that differs between series of the driver.
std::vector<engine_way> engine_ways() {
    auto const of = [](fake::rm::generation gpu, unsigned series) {
        fake::rm_driver::behaviour how;
        how.gpu = gpu;
        how.series = series;
        return how;
    };
    using fake::rm::generation;
    return {{"driver", "driver", {}},
            {"channel_hopper_580", "channel", of(generation::hopper, 580)},
            {"channel_ampere_570", "channel", of(generation::ampere, 570)},
            {"channel_ada_535", "channel", of(generation::ada, 535)},
            {"channel_blackwell_610", "channel", of(generation::blackwell, 610)}};
}

engine::deadline soon() {
    return engine::device_clock::now() + std::chrono::seconds(20);
}

class engine_test : public testing::TestWithParam<engine_way> {
protected:
    engine_machine machine_{GetParam().engine, GetParam().how};

    static std::unique_ptr<engine::copy_engine> started() {
        for (engine::copy_registration const& entry : engine::registry())
            if (entry.name == GetParam().engine) {
                auto made = entry.make(identify(0));
                made->start();
                return made;
            }
        return nullptr;
    }
    static engine_report report_of(device const& gpu, std::string_view name) {
        for (engine_report const& each : gpu.started_engines())
            if (each.name == name)
                return each;
        return {};
    }
};
INSTANTIATE_TEST_SUITE_P(ways, engine_test, testing::ValuesIn(engine_ways()),
                         [](auto const& info) { return std::string(info.param.name); });

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
        std::vector<piece> list;
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
        engine::ticket const number = which->submit(list);
        ASSERT_EQ(which->wait(number, soon()), outcome::done);
        EXPECT_TRUE(which->is_done(number));
        EXPECT_TRUE(std::ranges::equal(a.on_host(), host_wanted));
        EXPECT_TRUE(read_by_driver(a.block.address(), size) == gpu_wanted);
    }
}

TEST_P(engine_test, keeps_the_order_of_submissions) {
    auto const which = started();
    reached_memory a(*which, 64 * kib);
    engine::ticket last = 0;
    // More than any ring holds: each copies what the one before has brought.
    for (unsigned i = 0; i < 400; ++i) {
        a.on_host()[0] = std::byte(i);
        piece const there{a.gpu(i % 1000), a.on_host_at(0), 1};
        piece const back{a.on_host_at(1), a.gpu(i % 1000), 1};
        engine::ticket const first = which->submit({&there, 1});
        engine::ticket const second = which->submit({&back, 1});
        EXPECT_LT(last, first);
        EXPECT_LT(first, second);
        last = second;
        ASSERT_EQ(which->wait(second, soon()), outcome::done);
        EXPECT_TRUE(which->is_done(first));
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
        piece const next{a.gpu(at), a.on_host_at(at), 512};
        last = which->submit({&next, 1});
    }
    ASSERT_EQ(which->wait(last, soon()), outcome::done);
    EXPECT_TRUE(read_by_driver(a.block.address(), mib) == sent);
}

TEST_P(engine_test, leaves_nothing_behind) {
    (void)started(); // what CUDA keeps after its first use
    fake::left_over const before = machine_->held();
    for (int i = 0; i < 3; ++i) {
        auto const which = started();
        reached_memory a(*which, 64 * kib);
        piece const one{a.on_host_at(), a.gpu(), 4096};
        ASSERT_EQ(which->wait(which->submit({&one, 1}), soon()), outcome::done);
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
                piece const next{a.gpu(t * share + at), a.on_host_at(t * share + at), 1024};
                EXPECT_EQ(which->wait(which->submit({&next, 1}), soon()),
                          outcome::done);
            }
        });
    for (std::thread& each : all)
        each.join();
    EXPECT_TRUE(read_by_driver(a.block.address(), threads * share) == sent);
}

TEST_P(engine_test, closed_takes_nothing_more) {
    auto const which = started();
    reached_memory a(*which, 4096);
    which->close();
    piece const one{a.gpu(), a.on_host_at(), 8};
    EXPECT_EQ(refusal_of([&] {
                  (void)which->submit({&one, 1});
              }).code,
              make_error_code(errc::backend_broken));
    EXPECT_NE(which->wait(1000, soon()), outcome::done);
}

// ---- adaptive copies, with this engine for all but small ones

void round_trip(mapping const& map, std::span<std::byte> host, std::size_t offset, unsigned seed) {
    auto const sent = pattern(host.size(), seed);
    std::memcpy(host.data(), sent.data(), sent.size());
    map.copy_to_gpu(offset, host);
    std::memset(host.data(), 0, host.size());
    map.copy_to_cpu(host, offset);
    EXPECT_EQ(std::memcmp(host.data(), sent.data(), sent.size()), 0) << host.size() << " bytes at " << offset;
    std::vector<std::byte> seen(host.size());
    read(seen, map.window(offset, host.size()));
    EXPECT_TRUE(seen == sent) << "the mapping sees what the engine wrote";
}

TEST_P(engine_test, copies_adaptively_whatever_the_size) {
    device const gpu = device::open(0);
    device_block block(8 * mib);
    mapping const map = gpu.pin(block.address(), 8 * mib).map();
    unsigned seed = 10;
    for (std::size_t const bytes :
         {std::size_t{1}, std::size_t{1023}, std::size_t{1024}, 32 * kib - 1, 32 * kib,
          40 * kib + 7, 129 * kib + 1, 600 * kib + 3, 3 * mib + 5, 5 * mib + 9}) {
        std::vector<std::byte> host(bytes);
        round_trip(map, host, 3 + seed, seed);
        ++seed;
    }
    engine_report const used = report_of(gpu, GetParam().engine);
    EXPECT_EQ(used.state, backend_state::usable) << used.reason;
    EXPECT_GE(used.copies, 13u);
    EXPECT_GT(used.bytes, 16 * mib);
    EXPECT_EQ(used.failures, 0u);
}

TEST_P(engine_test, copies_directly_to_and_from_pinned_memory) {
    device const gpu = device::open(0);
    device_block block(12 * mib);
    mapping const map = gpu.pin(block.address(), 12 * mib).map();
    void* allocated = nullptr;
    expect_success(cuda::api().mem_host_alloc(&allocated, 11 * mib, 0));
    round_trip(map, {static_cast<std::byte*>(allocated) + 5, 10 * mib}, 1, 30);
    std::vector<std::byte> own(2 * mib);
    expect_success(cuda::api().mem_host_register(own.data() + 77, mib, 0));
    round_trip(map, std::span(own).subspan(100, 300 * kib), 9, 31);
    // Partly registered: staged.
    round_trip(map, std::span(own).subspan(mib, 300 * kib), 9, 32);
    expect_success(cuda::api().mem_host_unregister(own.data() + 77));
    round_trip(map, std::span(own).subspan(100, 300 * kib), 9, 33);
    expect_success(cuda::api().mem_free_host(allocated));
    EXPECT_EQ(report_of(gpu, GetParam().engine).copies, 8u);
}

TEST_P(engine_test, copies_directly_to_and_from_host_buffers) {
    device const gpu = device::open(0);
    device_block block(12 * mib);
    mapping const map = gpu.pin(block.address(), 12 * mib).map();
    { // what the first copy starts stays
        std::vector<std::byte> some(64 * kib);
        round_trip(map, some, 0, 59);
    }
    fake::left_over const before = machine_->held();
    for (std::size_t const bytes : {std::size_t{1}, 64 * kib, 5 * mib + 3, 9 * mib}) {
        host_buffer const buffer = gpu.allocate_host(bytes);
        ASSERT_EQ(buffer.size(), bytes);
        EXPECT_TRUE(
            std::ranges::all_of(buffer.bytes(), [](std::byte b) { return b == std::byte{}; }));
        round_trip(map, buffer.bytes(), 7, 60);
        std::size_t const half = bytes / 2;
        round_trip(map, buffer.bytes().subspan(half, bytes - half), 7, 61);
        unsigned type = 0;
        expect_success(cuda::api().pointer_get_attribute(
            &type, cuda::pointer_memory_type, reinterpret_cast<std::uintptr_t>(buffer.data())));
        EXPECT_EQ(type, cuda::memory_type_host) << "CUDA knows it, too";
    }
    host_buffer first = gpu.allocate_host(100), second = std::move(first);
    EXPECT_EQ(first.data(), nullptr);
    EXPECT_EQ(first.size(), 0u);
    EXPECT_EQ(second.size(), 100u);
    second = {};
    EXPECT_EQ(refusal_of([&] { (void)gpu.allocate_host(0); }).code,
              make_error_code(errc::invalid_argument));
    EXPECT_EQ(refusal_of([&] { (void)gpu.allocate_host(~std::size_t{0}); }).code,
              make_error_code(errc::invalid_argument));
    EXPECT_EQ(machine_->held(), before);
}

TEST_P(engine_test, copies_to_chunks_in_a_row) {
    device const gpu = device::open(0);
    virtual_block block(0, {2 * mib, 4 * mib, 2 * mib});
    mapping const map = gpu.pin(block.address() + 100, 8 * mib - 200).map();
    std::vector<std::byte> host(7 * mib);
    round_trip(map, host, 55, 40);
    EXPECT_EQ(report_of(gpu, GetParam().engine).copies, 2u);
}

TEST_P(engine_test, copies_to_memory_of_its_own) {
    device const gpu = device::open(0);
    mapping const map = gpu.allocate(3 * mib).map();
    std::vector<std::byte> host(2 * mib);
    round_trip(map, host, 4096, 41);
    EXPECT_EQ(report_of(gpu, GetParam().engine).copies, 2u);
}

// The mapping keeps the memory; another allocation may by then be at the address.
TEST_P(engine_test, never_reaches_the_memory_that_took_a_freed_ones_place) {
    device const gpu = device::open(0);
    for (bool const copied_before : {false, true}) {
        std::vector<std::size_t> const chunk{2 * mib};
        auto first = std::make_unique<virtual_block>(0, chunk);
        std::uintptr_t const address = first->address();
        mapping const map = gpu.pin(address, mib).map();
        std::vector<std::byte> host = pattern(mib, 50);
        write(map.window(), host);
        if (copied_before)
            map.copy_to_cpu(host, 0);
        first.reset();
        virtual_block const second(0, chunk, cuda::handle_type_posix_fd, address);
        ASSERT_EQ(second.address(), address) << "or nothing is tested";
        auto const theirs = pattern(2 * mib, 51);
        write_by_driver(address, theirs);
        round_trip(map, host, 0, 52);
        EXPECT_TRUE(read_by_driver(address, 2 * mib) == theirs);
    }
}

TEST_P(engine_test, copies_adaptively_in_several_threads) {
    device const gpu = device::open(0);
    device_block block(8 * mib);
    mapping const map = gpu.pin(block.address(), 8 * mib).map();
    std::vector<std::thread> all;
    for (unsigned t = 0; t < 4; ++t)
        all.emplace_back([&, t] {
            std::vector<std::byte> host(300 * kib + t);
            for (unsigned i = 0; i < 5; ++i)
                round_trip(map, host, t * 2 * mib + i, 100 * t + i);
        });
    for (std::thread& each : all)
        each.join();
}

TEST_P(engine_test, is_not_started_for_small_copies) {
    clear_environment("BARMAP_ENGINE");
    device const gpu = device::open(0);
    device_block block(mib);
    mapping const map = gpu.pin(block.address(), mib).map();
    std::vector<std::byte> host(32 * kib - 1);
    map.copy_to_gpu(0, host);
    map.copy_to_cpu(std::span(host).first(1023), 0);
    EXPECT_TRUE(gpu.started_engines().empty());
}

/// Runs `meanwhile` before each of CUDA's copies to the GPU.
class copy_hook {
public:
    explicit copy_hook(std::function<void()> meanwhile) {
        run_ = std::move(meanwhile);
        table_ = cuda::api();
        real_ = table_.memcpy_async;
        table_.memcpy_async = [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                 CUstream stream) {
            run_();
            return real_(to, from, bytes, stream);
        };
        cuda::replace_api(&table_);
    }
    copy_hook(copy_hook const&) = delete;
    copy_hook& operator=(copy_hook const&) = delete;
    ~copy_hook() { cuda::replace_api(nullptr); }

private:
    static inline std::function<void()> run_;
    static inline decltype(cuda::driver_api::memcpy_async) real_ = nullptr;
    cuda::driver_api table_;
};

TEST(adaptive_test, memory_is_mapped_while_another_thread_measures_engines) {
    engine_machine machine(nullptr, [] {
        fake::rm_driver::behaviour without_channel;
        without_channel.gpu = fake::rm::generation::unknown;
        return without_channel;
    }());
    device const gpu = device::open(0);
    device_block block(mib);
    pin const pinned = gpu.pin(block.address(), mib);
    mapping const map = pinned.map();
    std::future<std::size_t> mapped;
    copy_hook const hook([&] {
        auto const started = gpu.started_engines();
        bool const is_tested = std::ranges::any_of(
            started, [](engine_report const& each) { return each.name == "driver"; });
        if (mapped.valid() || !is_tested) // its self-test copies as well
            return;
        mapped = std::async(std::launch::async, [&] { return pinned.map().size(); });
        EXPECT_EQ(mapped.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    });
    std::vector<std::byte> host(64 * kib);
    map.copy_to_gpu(0, host);
    ASSERT_TRUE(mapped.valid()) << "nothing was measured";
    EXPECT_EQ(mapped.get(), mib);
}

TEST_P(engine_test, stays_inside_the_mapping) {
    device const gpu = device::open(0);
    device_block block(mib);
    mapping const map = gpu.pin(block.address(), mib).map();
    std::vector<std::byte> host(2 * mib);
    for (auto const& [offset, bytes] : {std::pair{std::size_t{0}, mib + 1},
                                        {mib, std::size_t{1}},
                                        {~std::size_t{0}, std::size_t{2}},
                                        {mib / 2, mib}}) {
        auto const part = std::span(host).first(bytes);
        std::size_t const at = offset; // clang 14 captures no structured binding
        expect_refusal(refusal_of([&] { map.copy_to_gpu(at, part); }), errc::out_of_range, "copy");
        expect_refusal(refusal_of([&] { map.copy_to_cpu(part, at); }), errc::out_of_range, "copy");
    }
    map.copy_to_gpu(mib, std::span<std::byte>{}); // nothing, at the end
    mapping().copy_to_cpu(std::span<std::byte>{}, 0);
    EXPECT_EQ(refusal_of([&] { mapping().copy_to_gpu(0, std::span(host)); }).code,
              make_error_code(errc::out_of_range));
}

} // namespace
} // namespace barmap::contract
