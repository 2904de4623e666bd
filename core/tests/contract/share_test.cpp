// SPDX-License-Identifier: MIT
#include "contract/ways_that_share.hpp"
#include "map/shared_memory.hpp"
#include "shared/in_child.hpp"

#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

/// Pins that are given to others by a descriptor.
namespace barmap::contract {
namespace {

using share_test = contract_test;

TEST_P(share_test, is_the_same_memory) {
    device const gpu = device::open(0);
    device_block const neighbour(kib), block(5 * mib);
    unsigned seed = 1;
    for (auto const& [offset, bytes] : std::initializer_list<std::pair<std::size_t, std::size_t>>{
             {0, 5 * mib}, {5, 69 * kib}, {mib - 1, 2}, {5 * mib - 1, 1}}) {
        pin const given = gpu.pin(block.address() + offset, bytes);
        os::fd const descriptor(given.share());
        pin const taken = open_shared(descriptor.get());
        EXPECT_EQ(taken.size(), bytes);
        EXPECT_EQ(taken.gpu_address(), 0u);
        EXPECT_EQ(taken.memory(), given.memory());
        EXPECT_EQ(taken.backend(), GetParam().backend);
        EXPECT_FALSE(taken.revoked());
        mapping const map = taken.map();
        EXPECT_EQ(map.kind(), given.map().kind());
        EXPECT_EQ(map.backend(), GetParam().backend);
        expect_same_memory(map, block.address() + offset, seed++);
    }
}

TEST_P(share_test, of_many_objects) {
    virtual_block const chunks(0, std::vector<std::size_t>(600, 2 * mib));
    device const gpu = device::open(0);
    std::uintptr_t const from = chunks.address() + 2 * mib - 4099;
    std::size_t const some = 140 * 2 * mib + 5000; // more than one call imports
    pin const given = gpu.pin(from, some);
    os::fd const descriptor(given.share());
    mapping const shared = open_shared(descriptor.get()).map();
    for (std::size_t at = 0; at < some; at += mib)
        write_value(shared.window(at, sizeof at), at + 1);
    for (std::size_t at = 0; at < some; at += mib) {
        std::size_t const sent = at + 1, back = ~at;
        auto bytes = read_by_driver(from + at, sizeof sent);
        EXPECT_EQ(std::memcmp(bytes.data(), &sent, sizeof sent), 0) << at;
        std::memcpy(bytes.data(), &back, sizeof back);
        write_by_driver(from + at, bytes);
        EXPECT_EQ(read_value<std::size_t>(shared.window(at, sizeof back)), back) << at;
    }
    if (GetParam().backend == std::string_view("dmabuf")) {
        expect_refusal([&] { (void)gpu.pin(chunks.address(), chunks.size()).share(); },
                       errc::unsupported_operation, "600 objects", "smaller pieces");
        return;
    }
    os::fd const all(gpu.pin(chunks.address(), chunks.size()).share()); // nor exports
    mapping const map = open_shared(all.get()).map();
    write_by_driver(chunks.address() + chunks.size() - kib, pattern(kib, 7));
    std::vector<std::byte> seen(kib);
    read(seen, map.window(chunks.size() - kib, kib));
    EXPECT_TRUE(seen == pattern(kib, 7));
}

TEST_P(share_test, large_copies) {
    device_block const block(4 * mib);
    os::fd const descriptor(device::open(0).pin(block.address(), 4 * mib).share());
    mapping const map = open_shared(descriptor.get()).map();
    auto const sent = pattern(4 * mib, 3);
    map.copy_to_gpu(0, sent);
    EXPECT_TRUE(read_by_driver(block.address(), 4 * mib) == sent);
    std::vector<std::byte> seen(4 * mib);
    map.copy_to_cpu(seen, 0);
    EXPECT_TRUE(seen == sent);
}

/// While it lives, a call of CUDA ends the process.
struct without_calls_of_cuda {
    without_calls_of_cuda() { cuda::replace_api(&none_); }
    ~without_calls_of_cuda() { cuda::replace_api(&before_); }

private:
    cuda::driver_api const& before_ = cuda::api();
    cuda::driver_api none_{};
};

engine_report report_of(pin const& memory, std::string_view engine) {
    for (engine_report const& each : memory.engines())
        if (each.name == engine)
            return each;
    return {};
}

TEST_P(share_test, an_engine_copies_without_cuda) {
    device_block const block(4 * mib);
    os::fd const descriptor(device::open(0).pin(block.address() + 5, 4 * mib - 5).share());
    bool const by_channel = GetParam().backend == std::string_view("rm");
    if (by_channel)
        set_environment("BARMAP_ENGINE", "channel");
    auto const sent = pattern(3 * mib + 1, 4);
    std::vector<std::byte> seen(sent.size());
    engine_report used, opened_again, by_cuda;
    {
        without_calls_of_cuda const nothing;
        pin const memory = open_shared(descriptor.get());
        mapping const map = memory.map();
        map.copy_to_gpu(7, sent);
        map.copy_to_cpu(seen, 7);
        used = report_of(memory, "channel");
        opened_again = report_of(open_shared(descriptor.get()), "channel");
        by_cuda = report_of(memory, "driver");
    }
    clear_environment("BARMAP_ENGINE");
    EXPECT_TRUE(read_by_driver(block.address() + 12, sent.size()) == sent);
    EXPECT_TRUE(seen == sent);
    EXPECT_EQ(used.state, by_channel ? backend_state::usable : backend_state::absent)
        << used.reason;
    EXPECT_EQ(used.copies, by_channel ? 2u : 0u);
    EXPECT_EQ(opened_again.copies, used.copies) << "one channel for all that is opened of a GPU";
    EXPECT_EQ(by_cuda.state, backend_state::absent);
    EXPECT_NE(by_cuda.reason.find("has not started it"), std::string::npos) << by_cuda.reason;
}

// By a measurement, as a program gets it.
TEST_P(share_test, copies_by_what_is_fastest_without_cuda) {
    device_block const block(4 * mib);
    os::fd const descriptor(device::open(0).pin(block.address(), 4 * mib).share());
    mapping const map = open_shared(descriptor.get()).map();
    for (std::size_t const bytes : {std::size_t{1024}, 32 * kib, 3 * mib + 1}) {
        auto const sent = pattern(bytes, static_cast<unsigned>(bytes));
        map.copy_to_gpu(9, sent);
        std::vector<std::byte> seen(bytes);
        map.copy_to_cpu(seen, 9);
        EXPECT_TRUE(seen == sent);
    }
}

TEST_P(share_test, memory_stays_with_whoever_has_it) {
    fake::left_over const before = the_machine().held();
    {
        os::fd descriptor;
        auto const sent = pattern(2 * mib, 5);
        {
            device_block const block(2 * mib);
            write_by_driver(block.address(), sent);
            descriptor = os::fd(device::open(0).pin(block.address(), 2 * mib).share());
        } // freed, unpinned, the device closed
        std::vector<std::byte> seen(2 * mib);
        pin const taken = open_shared(descriptor.get());
        descriptor = {};
        mapping const map = taken.map();
        read(seen, map.window());
        EXPECT_TRUE(seen == sent);
        device_block const other(2 * mib);
        write_by_driver(other.address(), pattern(2 * mib, 6));
        read(seen, map.window());
        EXPECT_TRUE(seen == sent) << "not what was allocated later";
    }
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(share_test, can_be_opened_again_and_shared_on) {
    device_block const block(2 * mib);
    pin const given = device::open(0).pin(block.address() + 3, mib);
    fake::left_over const before = the_machine().held();
    {
        os::fd descriptor(given.share());
        for (int i = 0; i < 3; ++i) {
            pin const taken = open_shared(descriptor.get());
            expect_same_memory(taken.map(), block.address() + 3, static_cast<unsigned>(i));
            os::fd next(taken.share());
            descriptor = std::move(next);
        }
        expect_same_memory(open_shared(descriptor.get()).map(), block.address() + 3, 9);
    }
    EXPECT_EQ(the_machine().held(), before);
}

TEST_P(share_test, threads_share_and_open) {
    device_block const block(2 * mib);
    pin const given = device::open(0).pin(block.address(), 2 * mib);
    std::vector<std::jthread> all;
    for (unsigned t = 0; t < 4; ++t)
        all.emplace_back([&, t] {
            for (int i = 0; i < 20; ++i) {
                os::fd const descriptor(given.share());
                mapping const map = open_shared(descriptor.get()).map();
                window const own = map.window(t * kib, kib);
                write(own, pattern(kib, t));
                std::vector<std::byte> seen(kib);
                mapping const here = given.map();
                read(seen, here.window(t * kib, kib));
                EXPECT_TRUE(seen == pattern(kib, t));
            }
        });
}

INSTANTIATE_TEST_SUITE_P(ways, share_test, over(ways_that_share()),
                         [](auto const& info) { return name_of(info.param); });

TEST(shared_memory, is_unpacked_as_it_was_packed) {
    backend::shared_memory given;
    given.backend = "vulkan";
    given.memory = memory_kind::pool;
    given.caching = cache_kind::cached;
    given.force_pcie = given.simulated = true;
    given.gpu = {0x10001, 0x65, 0x1f};
    given.parts = {{5, 7, 0}, {std::uint64_t{1} << 40, 4096, 60000}};
    given.files.push_back(os::open_file("/dev/null", O_RDWR));
    os::fd const packed = given.pack();
    auto const taken = backend::shared_memory::unpack(packed.get());
    EXPECT_EQ(taken.backend, given.backend);
    EXPECT_EQ(taken.memory, given.memory);
    EXPECT_EQ(taken.caching, given.caching);
    EXPECT_TRUE(taken.force_pcie && taken.simulated);
    EXPECT_EQ(taken.gpu.text(), "10001:65:1f.0");
    EXPECT_EQ(taken.bytes(), 7u + 4096 + 60000);
    ASSERT_EQ(taken.parts.size(), 2u);
    EXPECT_EQ(taken.parts[1].offset, given.parts[1].offset);
    EXPECT_EQ(taken.parts[1].beyond, 60000u);
    ASSERT_EQ(taken.files.size(), 1u);
    for (int const each : {packed.get(), taken.files.front().get()})
        EXPECT_EQ(::fcntl(each, F_GETFD), FD_CLOEXEC);
    EXPECT_NO_THROW(backend::shared_memory::expect_few(4096));
    expect_refusal([] { backend::shared_memory::expect_few(4097); }, errc::unsupported_operation,
                   "4097 objects", "smaller pieces");
}

using share_between_processes_test = simulated_gpu_alone;

TEST_F(share_between_processes_test, a_forked_child_opens_its_own) {
    device_block const block(2 * mib);
    write_by_driver(block.address(), pattern(2 * mib, 1));
    pin const given = device::open(0).pin(block.address(), 2 * mib);
    os::fd const descriptor(given.share());
    pin const before_the_fork = open_shared(descriptor.get());
    expect_exit(0, in_child(1, [&] {
                    try {
                        (void)before_the_fork.map();
                        ::_exit(4);
                    } catch (error const& failure) {
                        if (failure.code() != errc::forked_child ||
                            failure.advice().find("open_shared") == std::string::npos)
                            ::_exit(2);
                    }
                    mapping const map = open_shared(descriptor.get()).map();
                    std::vector<std::byte> seen(2 * mib);
                    read(seen, map.window());
                    if (seen != pattern(2 * mib, 1))
                        ::_exit(3);
                    write(map.window(), pattern(2 * mib, 2));
                    ::_exit(0);
                }));
    EXPECT_TRUE(read_by_driver(block.address(), 2 * mib) == pattern(2 * mib, 2));
}

TEST_F(share_between_processes_test, a_killed_receiver_harms_nobody) {
    device_block const block(2 * mib);
    pin const given = device::open(0).pin(block.address(), 2 * mib);
    for (int i = 0; i < 50; ++i) {
        os::fd const descriptor(given.share());
        int const status = in_child(1, [&] {
            mapping const map = open_shared(descriptor.get()).map();
            write_value(map.window(), i);
            ::raise(SIGKILL);
        });
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
        mapping const here = given.map();
        EXPECT_EQ(read_value<int>(here.window()), i);
    }
}

} // namespace
} // namespace barmap::contract
