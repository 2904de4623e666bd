// SPDX-License-Identifier: MIT
#include "other_run.hpp"
#include "real_gpu.hpp"
#include "shared/in_child.hpp"
#include "system/fd.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

/// Pins that processes without CUDA open by a descriptor.
namespace barmap::gpu_test {
namespace {

using clock = std::chrono::steady_clock;

class share_gpu : public real_gpu {
protected:
    struct free_memory {
        std::uint64_t bar1;
        std::size_t gpu;
        std::size_t descriptors;
        bool operator==(free_memory const&) const = default;
    };
    /// What is free, once the driver has freed what ended processes had.
    static free_memory free_now(device const& of) {
        std::size_t bytes = 0, all = 0;
        expect_success(cuda::api().mem_get_info(&bytes, &all));
        return {of.bar1().available, bytes, open_descriptors()};
    }
    static void expect_free(device const& of, free_memory const& before) {
        auto const until = clock::now() + std::chrono::seconds(10);
        while (free_now(of) != before && clock::now() < until)
            ::usleep(10'000);
        free_memory const now = free_now(of);
        EXPECT_EQ(now.bar1, before.bar1);
        EXPECT_EQ(now.gpu, before.gpu);
        EXPECT_EQ(now.descriptors, before.descriptors);
    }
};

constexpr std::size_t shared_bytes = 64 * mib;

std::uint64_t value(std::uint64_t seed, std::size_t at) {
    return seed * 0x9e3779b97f4a7c15 + at;
}

/// Not a test: another process, which has nothing of CUDA. For each word it gets a round: checks
/// what the owner wrote, and writes its own.
TEST(share_receiver, DISABLED_moves_words) {
    line const to_owner(line_of_this_run);
    os::fd const descriptor(to_owner.receive_descriptor());
    auto const begin = clock::now();
    pin const memory = open_shared(descriptor.get());
    mapping const map = memory.map();
    write_value(map.window(0, 8), std::uint64_t{1});
    flush_stores();
    double const first_us = std::chrono::duration<double, std::micro>(clock::now() - begin).count();
    to_owner.send(&first_us, sizeof first_us);
    std::vector<std::uint64_t> words(map.size() / sizeof(std::uint64_t));
    for (std::uint64_t seed = 0; to_owner.receive(&seed, sizeof seed);) {
        bool const by_engine = seed % 2 == 0; // or by loads and stores
        std::uint64_t wrong = 0;
        if (by_engine)
            map.copy_to_cpu(std::as_writable_bytes(std::span(words)), 0);
        else
            read(std::as_writable_bytes(std::span(words)), map.window());
        for (std::size_t i = 0; i < words.size(); ++i)
            wrong += words[i] != value(seed, i);
        for (std::size_t i = 0; i < words.size(); ++i)
            words[i] = value(~seed, i);
        if (by_engine)
            map.copy_to_gpu(0, std::as_bytes(std::span(words)));
        else
            write(map.window(), std::as_bytes(std::span(words)));
        flush_stores();
        to_owner.send(&wrong, sizeof wrong);
    }
    for (engine_report const& each : memory.engines())
        if (each.name == "channel") {
            EXPECT_EQ(each.state, backend_state::usable) << each.reason;
        }
    EXPECT_EQ(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), nullptr);
    ::_exit(HasFailure());
}

TEST_F(share_gpu, no_word_is_wrong_in_another_process) {
    device_block const block(shared_bytes);
    device const gpu = device::open(0);
    other_run other("share_receiver.DISABLED_moves_words");
    {
        os::fd const descriptor(gpu.pin(block.address(), shared_bytes, {.backend = "rm"}).share());
        other.send_descriptor(descriptor.get());
    }
    double first_us = 0;
    ASSERT_TRUE(other.receive(&first_us, sizeof first_us));
    RecordProperty("first_store_us", std::to_string(first_us));
    std::vector<std::byte> bytes(shared_bytes);
    for (std::uint64_t seed = 1; seed <= rounds(2); ++seed) {
        for (std::size_t i = 0; i < shared_bytes / 8; ++i) {
            std::uint64_t const word = value(seed, i);
            std::memcpy(bytes.data() + i * 8, &word, 8);
        }
        write_by_driver(block.address(), bytes);
        other.send(&seed, sizeof seed);
        std::uint64_t wrong = 1;
        ASSERT_TRUE(other.receive(&wrong, sizeof wrong));
        EXPECT_EQ(wrong, 0u) << "of the owner's words, in round " << seed;
        bytes = read_by_driver(block.address(), shared_bytes);
        wrong = 0;
        for (std::size_t i = 0; i < shared_bytes / 8; ++i) {
            std::uint64_t const word = value(~seed, i);
            wrong += std::memcmp(bytes.data() + i * 8, &word, 8) != 0;
        }
        EXPECT_EQ(wrong, 0u) << "of the other's words, in round " << seed;
    }
    other.end();
    EXPECT_EQ(other.wait(), 0) << "it has loaded CUDA";
}

/// GB/s of copies to and from the GPU, the best of seven.
std::array<double, 2> rates(mapping const& map, std::span<std::byte> host) {
    std::array<double, 2> best{};
    for (int i = 0; i < 8; ++i) // the first measures what is fastest
        for (bool const to_gpu : {true, false}) {
            auto const begin = clock::now();
            if (to_gpu)
                map.copy_to_gpu(0, host);
            else
                map.copy_to_cpu(host, 0);
            double const seconds = std::chrono::duration<double>(clock::now() - begin).count();
            double& of = best[to_gpu ? 0 : 1];
            if (i > 0)
                of = std::max(of, static_cast<double>(host.size()) / seconds / 1e9);
        }
    return best;
}

/// Not a test either: for each size that it gets, how fast it copies.
TEST(share_receiver, DISABLED_measures_copies) {
    line const to_owner(line_of_this_run);
    os::fd const descriptor(to_owner.receive_descriptor());
    mapping const map = open_shared(descriptor.get()).map();
    std::vector<std::byte> host(shared_bytes, std::byte{1});
    for (std::size_t bytes = 0; to_owner.receive(&bytes, sizeof bytes);) {
        auto const found = rates(map, std::span(host).first(bytes));
        to_owner.send(&found, sizeof found);
    }
    ::_exit(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr);
}

// The figures go to docs/results: share-copies.csv.
TEST_F(share_gpu, copies_of_another_process_are_measured) {
    device_block const block(shared_bytes);
    pin const given = device::open(0).pin(block.address(), shared_bytes, {.backend = "rm"});
    mapping const map = given.map();
    other_run other("share_receiver.DISABLED_measures_copies");
    {
        os::fd const descriptor(given.share());
        other.send_descriptor(descriptor.get());
    }
    std::vector<std::byte> host(shared_bytes, std::byte{1});
    std::printf("round,bytes,to_gpu_owner,to_gpu_opened,to_cpu_owner,to_cpu_opened\n");
    for (std::size_t round = 1; round <= rounds(1); ++round)
        for (std::size_t const bytes : {4 * kib, 64 * kib, mib, 16 * mib, shared_bytes}) {
            auto const here = rates(map, std::span(host).first(bytes));
            std::array<double, 2> there{};
            other.send(&bytes, sizeof bytes);
            ASSERT_TRUE(other.receive(&there, sizeof there));
            std::printf("%zu,%zu,%.3f,%.3f,%.3f,%.3f\n", round, bytes, here[0], there[0], here[1],
                        there[1]);
            EXPECT_GT(there[0] * there[1], 0);
        }
    other.end();
    EXPECT_EQ(other.wait(), 0) << "it has loaded CUDA";
}

TEST_F(share_gpu, every_kind_of_memory) {
    device const gpu = device::open(0);
    device_block const plain(5 * mib);
    virtual_block const chunks(0, std::vector<std::size_t>(300, 2 * mib)), opaque(0, {4 * mib}, 0);
    pool_block const first(kib, pool_block::from::the_default_pool),
        later(100 * mib, pool_block::from::the_default_pool);
    pin const own = gpu.allocate(3 * mib, "rm");
    unsigned seed = 1;
    for (auto const& [from, bytes] : std::initializer_list<std::pair<std::uintptr_t, std::size_t>>{
             {plain.address(), 5 * mib},
             {plain.address() + 5, 69 * kib},
             {chunks.address(), 600 * mib},
             {chunks.address() + 2 * mib - 4099, 8 * mib},
             {opaque.address(), 4 * mib},
             {first.address(), kib},
             {later.address() + 31 * mib + 7, 40 * mib},
             {own.gpu_address(), 3 * mib}}) {
        pin const given = gpu.pin(from, bytes, {.backend = "rm"});
        os::fd const descriptor(given.share());
        pin const taken = open_shared(descriptor.get());
        EXPECT_EQ(taken.memory(), given.memory());
        expect_same_memory(taken.map(), from, seed++);
    }
}

TEST_F(share_gpu, a_forked_child_of_the_owner_opens_its_own) {
    device_block const block(2 * mib);
    write_by_driver(block.address(), pattern(2 * mib, 1));
    device const gpu = device::open(0);
    os::fd const descriptor(gpu.pin(block.address(), 2 * mib, {.backend = "rm"}).share());
    expect_exit(0, in_child(0, [&] {
                    mapping const map = open_shared(descriptor.get()).map();
                    std::vector<std::byte> seen(2 * mib);
                    read(seen, map.window());
                    if (seen != pattern(2 * mib, 1))
                        ::_exit(3);
                    write(map.window(), pattern(2 * mib, 2));
                }));
    EXPECT_TRUE(read_by_driver(block.address(), 2 * mib) == pattern(2 * mib, 2));
}

TEST(share_receiver, DISABLED_waits_to_be_killed) {
    line const to_owner(line_of_this_run);
    os::fd const descriptor(to_owner.receive_descriptor());
    mapping const map = open_shared(descriptor.get()).map();
    write_value(map.window(0, 8), std::uint64_t(::getpid()));
    flush_stores();
    std::uint64_t const told = static_cast<std::uint64_t>(::getpid());
    to_owner.send(&told, sizeof told);
    ::pause();
}

TEST_F(share_gpu, killed_receivers_leave_nothing) {
    device_block const block(8 * mib);
    device const gpu = device::open(0);
    pin const given = gpu.pin(block.address(), 8 * mib, {.backend = "rm"});
    mapping const here = given.map();
    free_memory const before = free_now(gpu);
    for (std::size_t i = 0; i < rounds(10); ++i) {
        other_run other("share_receiver.DISABLED_waits_to_be_killed");
        os::fd const descriptor(given.share());
        other.send_descriptor(descriptor.get());
        std::uint64_t told = 0;
        ASSERT_TRUE(other.receive(&told, sizeof told));
        EXPECT_EQ(read_value<std::uint64_t>(here.window(0, 8)), told);
        other.kill();
    }
    expect_free(gpu, before);
}

TEST_F(share_gpu, DISABLED_owner_waits_to_be_killed) {
    line const to_test(line_of_this_run);
    device_block const block(64 * mib);
    write_by_driver(block.address(), pattern(64 * mib, 4));
    os::fd const descriptor(
        device::open(0).pin(block.address(), 64 * mib, {.backend = "rm"}).share());
    to_test.send_descriptor(descriptor.get());
    ::pause();
}

TEST_F(share_gpu, killed_owners_leave_nothing) {
    device const gpu = device::open(0);
    free_memory const before = free_now(gpu);
    for (std::size_t i = 0; i < rounds(1); ++i) {
        other_run owner("share_gpu.DISABLED_owner_waits_to_be_killed");
        os::fd const descriptor(owner.receive_descriptor());
        mapping const map = open_shared(descriptor.get()).map();
        owner.kill();
        std::vector<std::byte> seen(mib);
        read(seen, map.window(63 * mib, mib));
        auto const sent = pattern(64 * mib, 4);
        EXPECT_TRUE(std::equal(seen.begin(), seen.end(), sent.begin() + 63 * mib));
    }
    expect_free(gpu, before);
}

} // namespace
} // namespace barmap::gpu_test
