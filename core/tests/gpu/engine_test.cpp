// SPDX-License-Identifier: MIT
#include "transfer/engine/engine.hpp"

#include "gpu/gpu_identity.hpp"
#include "other_run.hpp"
#include "real_gpu.hpp"
#include "system/region.hpp"
#include "transfer/engine/transfer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>

namespace barmap::gpu_test {
namespace {

using namespace std::chrono_literals;
using engine::copy_outcome;
using engine::direction;

engine::ticket submit(engine::copy_engine& to, std::span<copy_piece const> pieces) {
    return to.submit(direction::to_cpu, pieces, 0, {});
}

class engine_test : public real_gpu {
protected:
    static std::unique_ptr<engine::copy_engine> started(std::string_view name) {
        for (engine::copy_registration const& entry : engine::registry())
            if (entry.name == name) {
                auto made = entry.make(identify(0), engine::lane::held);
                made->start();
                return made;
            }
        throw std::logic_error("no such engine");
    }
    /// Why the channel cannot be had here; empty if it can.
    static std::string why_no_channel() {
        for (engine_report const& each : device::open(0).engines())
            if (each.name == "channel" && each.state != backend_state::usable)
                return each.reason;
        return {};
    }
    static engine::device_clock::time_point within(std::chrono::milliseconds time) {
        return engine::device_clock::now() + time;
    }
};

#define SKIP_WITHOUT_CHANNEL()                                                                     \
    if (std::string const why = why_no_channel(); !why.empty())                                    \
    GTEST_SKIP() << why

TEST_F(engine_test, moves_random_bytes_between_all_kinds_of_memory) {
    device const gpu = device::open(0);
    constexpr std::size_t size = 16 * mib;
    device_block const block(size);
    virtual_block const chunks(0, std::vector(8, 2 * mib));
    pin const own = gpu.allocate(size);
    std::array<mapping, 3> maps{gpu.pin(block.address(), size).map(),
                                gpu.pin(chunks.address(), size).map(), own.map()};
    void* allocated = nullptr;
    expect_success(cu().mem_host_alloc(&allocated, size, 0));
    std::vector<std::byte> pageable(size), registered(size + 5000), sent(size);
    expect_success(cu().mem_host_register(registered.data() + 123, size, 0));
    std::byte* const sides[] = {pageable.data(), static_cast<std::byte*>(allocated),
                                registered.data() + 123};
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < rounds(400); ++i) {
        mapping const& map = maps[random() % 3];
        std::size_t const bytes = 1 + random() % (i % 4 ? 300'000 : size - 1);
        std::size_t const offset = random() % (size - bytes), at = random() % (size - bytes);
        for (std::size_t k = 0; k + 8 <= bytes; k += 8) {
            std::uint64_t const word = random();
            std::memcpy(sent.data() + k, &word, 8);
        }
        std::byte* const from = sides[random() % 3] + at;
        std::byte* const to = sides[random() % 3] + at;
        std::memcpy(from, sent.data(), bytes);
        map.copy_to_gpu(offset, std::span<std::byte const>(from, bytes));
        std::memset(to, 0xee, bytes);
        map.copy_to_cpu(std::span(to, bytes), offset);
        ASSERT_EQ(std::memcmp(to, sent.data(), bytes), 0) << bytes << " bytes, round " << i;
    }
    expect_success(cu().mem_host_unregister(registered.data() + 123));
    expect_success(cu().mem_free_host(allocated));
}

// docs/ordering.md: what a mapping's writes mean for a later copy by an engine, and back. Both go
// different ways into the GPU's memory.
TEST_F(engine_test, sees_what_the_mapping_wrote_and_shows_what_it_wrote_itself) {
    device const gpu = device::open(0);
    constexpr std::size_t size = 4 * mib;
    device_block const block(size);
    mapping const map = gpu.pin(block.address(), size).map();
    for (std::string_view const name : {"channel", "driver"}) {
        std::unique_ptr<engine::copy_engine> which;
        try {
            which = started(name);
        } catch (error const&) {
            continue;
        }
        auto const reached = which->reach(cuda::describe(block.address(), size));
        os::region const host = os::region::shared_memory(os::page_size());
        auto const on_host = which->reach(std::span(host.data(), host.size()));
        auto* const word = reinterpret_cast<std::uint64_t*>(host.data());
        std::uint64_t const to = on_host->runs.front().address;
        std::size_t stale = 0;
        for (std::uint64_t i = 1; i <= rounds(20'000); ++i) {
            std::size_t const at = i * 8 % 65536;
            std::uint64_t const gpu_at = reached->runs.front().address + at;
            if (i % 2)
                write(map.window(at, 8), std::as_bytes(std::span(&i, 1)));
            else
                post(map.window(at, 8), i);
            copy_piece const there{gpu_at, to, 8}, back{to, gpu_at, 8};
            flush_stores();
            ASSERT_EQ(engine::wait(*which, submit(*which, {&back, 1}), within(2s)),
                      copy_outcome::done);
            stale += *word != i;
            *word = ~i;
            ASSERT_EQ(engine::wait(*which, submit(*which, {&there, 1}), within(2s)),
                      copy_outcome::done);
            std::uint64_t seen = 0;
            read(std::as_writable_bytes(std::span(&seen, 1)), map.window(at, 8));
            stale += seen != ~i;
        }
        EXPECT_EQ(stale, 0u) << name;
        std::printf("%s: %zu pairs, %zu stale\n", std::string(name).c_str(), rounds(40'000), stale);
    }
}

TEST_F(engine_test, an_address_that_is_not_mapped_is_an_error_and_CUDA_goes_on) {
    SKIP_WITHOUT_CHANNEL();
    device_block const block(mib);
    for (int i = 0; i < 3; ++i) {
        auto const which = started("channel");
        auto const reached = which->reach(cuda::describe(block.address(), mib));
        os::region const host = os::region::shared_memory(os::page_size());
        auto const on_host = which->reach(std::span(host.data(), host.size()));
        copy_piece const wild{on_host->runs.front().address,
                              reached->runs.front().address + (std::uint64_t{1} << 36), 4096};
        auto const begin = std::chrono::steady_clock::now();
        EXPECT_EQ(engine::wait(*which, submit(*which, {&wild, 1}), within(2s)),
                  copy_outcome::failed);
        std::printf(
            "unmapped address: told after %.1f ms\n",
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                .count());
        which->close();
        std::vector<std::byte> seen(mib);
        expect_success(cu().memcpy_dtoh(seen.data(), block.address(), mib));
    }
}

TEST_F(engine_test, leaves_nothing_behind) {
    SKIP_WITHOUT_CHANNEL();
    device const gpu = device::open(0);
    device_block const block(mib);
    auto const use = [&] {
        auto const which = started("channel");
        auto const reached = which->reach(cuda::describe(block.address(), mib));
    };
    use();
    std::size_t descriptors = open_descriptors();
    std::uint64_t bar1 = gpu.bar1().available;
    for (std::size_t i = 0; i < rounds(50); ++i)
        use();
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(gpu.bar1().available, bar1);
    // And pins that engines reach; the device's own engine stays.
    std::vector<std::byte> host(64 * 1024);
    gpu.pin(block.address(), mib).map().copy_to_cpu(host, 0);
    descriptors = open_descriptors();
    bar1 = gpu.bar1().available;
    for (std::size_t i = 0; i < rounds(500); ++i)
        gpu.pin(block.address(), mib).map().copy_to_cpu(host, 0);
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(gpu.bar1().available, bar1);
}

/// Not a test: a process that is killed.
TEST_F(engine_test, DISABLED_copies_for_ever) {
    line const to_test(line_of_this_run);
    device const gpu = device::open(0);
    pin const own = gpu.allocate(16 * mib);
    mapping const map = own.map();
    std::vector<std::byte> host(8 * mib);
    map.copy_to_cpu(host, 0);
    to_test.send("x", 1);
    for (;;) {
        map.copy_to_cpu(host, 0);
        map.copy_to_gpu(4096, host);
    }
}

TEST_F(engine_test, a_process_killed_in_the_middle_of_a_copy_harms_nobody) {
    device const gpu = device::open(0);
    device_block const block(4 * mib);
    mapping const map = gpu.pin(block.address(), 4 * mib).map();
    std::vector<std::byte> seen(4 * mib);
    map.copy_to_gpu(0, pattern(4 * mib, 1));
    std::mt19937 random(1);
    for (std::size_t i = 0; i < rounds(5); ++i) {
        other_run other("engine_test.DISABLED_copies_for_ever");
        char word = 0;
        ASSERT_TRUE(other.receive(&word, 1));
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
        other.kill();
        map.copy_to_cpu(seen, 0);
        ASSERT_TRUE(seen == pattern(4 * mib, 1));
    }
    for (engine_report const& each : gpu.engines())
        EXPECT_EQ(each.failures, 0u) << each.name;
}

} // namespace
} // namespace barmap::gpu_test
