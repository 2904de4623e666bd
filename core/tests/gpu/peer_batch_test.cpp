// SPDX-License-Identifier: MIT
#include "other_run.hpp"
#include "peer_gpus.hpp"

#include <chrono>
#include <thread>

/// Batches inside one GPU and between two: what they copy, and what they refuse.
namespace barmap::gpu_test {
namespace {

TEST_F(real_gpu, batches_stay_inside_a_gpu) {
    device const gpu = device::open(0);
    batch_queue queue = gpu.batch_queue();
    std::printf("by %s\n", std::string(queue.engine()).c_str());
    constexpr std::size_t size = 64 * mib;
    device_block const from(size), to(size);
    std::mt19937_64 random(1);
    for (unsigned round = 0; round < rounds(4); ++round) {
        auto const source = pattern(size, round);
        auto wanted = pattern(size, round + 100);
        write_by_driver(from.address(), source);
        write_by_driver(to.address(), wanted);
        auto const list = random_pieces(to.address(), from.address(), size,
                                        std::size_t{512} << round % 8, random);
        ASSERT_TRUE(queue.wait(queue.submit(list), 10s));
        copy_images(list, to.address(), wanted, from.address(), source);
        ASSERT_TRUE(read_by_driver(to.address(), size) == wanted) << round;
        ASSERT_TRUE(read_by_driver(from.address(), size) == source) << round;
    }
    EXPECT_EQ(queue.reports().back().failures, 0u);
}

using peer_batch_test = peer_gpus;

TEST_F(peer_batch_test, memory_is_refused_until_access_is_enabled) {
    batch_queue queue = queue_of(0);
    std::printf("by %s\n", std::string(queue.engine()).c_str());
    auto const peer = block_of(1, 4 * mib);
    on(1);
    virtual_block const chunk(1, {2 * mib});
    pool_block const pooled(2 * mib, pool_block::from::a_pool_with_fd_handles);
    on(0);
    device_block const own(mib);
    auto const expect_refused = [&](std::uintptr_t at, char const* what) {
        print_attributes(what, at);
        std::vector<copy_piece> const push{{at, own.address(), 4096}},
            pull{{own.address(), at, 64}};
        if (queue.engine() == "driver") // CUDA's copies need no access
            return;
        // A thread remembers what it has looked at, and an earlier test's memory may have been
        // here.
        std::thread([&] {
            for (auto const& pieces : {push, pull})
                EXPECT_EQ(code_of([&] { (void)queue.wait(queue.submit(pieces), 5s); }),
                          errc::wrong_device)
                    << what;
        }).join();
    };
    expect_refused(peer->address(), "cuMemAlloc without peer access");
    expect_refused(chunk.address(), "VMM memory without rights");
    expect_refused(pooled.address(), "pool memory without rights");
    enable(0);
    print_attributes("cuMemAlloc with peer access", peer->address());
    for (unsigned i = 0; i < rounds(3); ++i)
        expect_to_work(queue, peer->address(), 4 * mib, i);
    expect_refused(chunk.address(), "VMM memory without rights, with peer access");
    CUmemAccessDesc const access{{cuda::location_type_device, 0}, cuda::access_read_write};
    expect_success(cu().mem_set_access(chunk.address(), chunk.size(), &access, 1));
    print_attributes("VMM memory with rights", chunk.address());
    expect_to_work(queue, chunk.address(), chunk.size(), 7);
    EXPECT_EQ(queue.reports().back().failures, 0u);
}

// What was looked at before, and is not mapped any more, fails, and nothing else does.
TEST_F(peer_batch_test, access_that_ends_is_told_and_harms_nobody) {
    batch_queue queue = queue_of(0), other_queue = queue_of(1);
    if (queue.engine() != "channel")
        GTEST_SKIP() << queue.reports().front().reason;
    auto const peer = block_of(1, 4 * mib), theirs = block_of(1, mib);
    device_block const own(mib);
    pinned_block const host(mib);
    enable(0);
    expect_to_work(queue, peer->address(), 4 * mib, 1);
    expect_success(cu().ctx_disable_peer_access(contexts_[1]));
    is_enabled_[0] = false;
    std::vector<copy_piece> const bad{{peer->address(), own.address(), 4096}};
    auto const begin = std::chrono::steady_clock::now();
    batch_ticket const ticket = queue.submit(bad);
    for (int i = 0; i < 100; ++i)
        EXPECT_TRUE(other_queue.wait(
            other_queue.submit(std::vector<copy_piece>{{host.address(), theirs->address(), 4096}}),
            1s));
    EXPECT_EQ(code_of([&] { (void)queue.wait(ticket, 5s); }), errc::copy_unfinished);
    std::printf("told after %.1f ms\n",
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                    .count());
    for (int const ordinal : {1, 0}) { // CUDA goes on
        on(ordinal);
        expect_success(cu().ctx_synchronize());
    }
    EXPECT_TRUE(queue.wait(
        queue.submit(std::vector<copy_piece>{{host.address(), own.address(), 4096}}), 1s));
    EXPECT_EQ(other_queue.reports().back().failures, 0u);
}

TEST_F(peer_batch_test, random_pieces_go_both_ways_at_once) {
    constexpr std::size_t size = 64 * mib;
    enable(0);
    enable(1);
    std::array<batch_queue, 2> queues{queue_of(0), queue_of(1)};
    std::array<std::unique_ptr<device_block>, 2> sources, targets;
    for (int const i : {0, 1}) {
        sources[i] = block_of(i, size);
        targets[i] = block_of(i, size);
    }
    std::mt19937_64 random(3);
    for (unsigned round = 0; round < rounds(4); ++round) {
        std::array<std::vector<std::byte>, 2> image, wanted;
        std::array<std::vector<copy_piece>, 2> lists; // of each GPU's queue, to the other
        bool const pulls = round % 2 == 1;
        for (int const i : {0, 1}) {
            image[i] = pattern(size, 4 * round + static_cast<unsigned>(i));
            wanted[i] = pattern(size, 4 * round + 2 + static_cast<unsigned>(i));
            write_by_driver(sources[i]->address(), image[i]);
            write_by_driver(targets[i]->address(), wanted[i]);
        }
        for (int const i : {0, 1}) {
            int const to = pulls ? i : 1 - i;
            lists[i] = random_pieces(targets[to]->address(), sources[1 - to]->address(), size,
                                     std::size_t{512} << (round / 2) % 8, random);
            copy_images(lists[i], targets[to]->address(), wanted[to], sources[1 - to]->address(),
                        image[1 - to]);
        }
        std::array<batch_ticket, 2> const tickets{queues[0].submit(lists[0]),
                                                  queues[1].submit(lists[1])};
        for (int const i : {0, 1})
            ASSERT_TRUE(queues[i].wait(tickets[i], 10s));
        for (int const i : {0, 1}) {
            ASSERT_TRUE(read_by_driver(targets[i]->address(), size) == wanted[i]) << round;
            ASSERT_TRUE(read_by_driver(sources[i]->address(), size) == image[i]) << round;
        }
    }
    for (batch_queue const& each : queues)
        EXPECT_EQ(each.reports().back().failures, 0u);
}

TEST_F(peer_batch_test, streams_of_the_other_gpu_are_refused) {
    batch_queue queue = queue_of(0);
    device_block const own(mib);
    pinned_block const host(mib);
    CUstream const theirs = stream_of(1);
    std::vector<copy_piece> const list{{host.address(), own.address(), 4096}};
    EXPECT_EQ(code_of([&] { (void)queue.submit(list, after{theirs}); }), errc::wrong_device);
    EXPECT_EQ(code_of([&] { (void)queue.submit(list, {}, then{theirs}); }), errc::wrong_device);
    EXPECT_TRUE(queue.wait(queue.submit(list), 1s));
    expect_success(cu().stream_destroy(theirs));
}

constexpr std::size_t imported_size = 256 * mib, imported_pieces = 100'000, imported_piece = 2048;

/// Not a test: a process that has memory on the last GPU, and looks at it when it is told to.
TEST_F(peer_batch_test, DISABLED_owner) {
    line const to_test(line_of_this_run);
    auto const block = block_of(1, imported_size);
    write_by_driver(block->address(), pattern(imported_size, 1));
    CUipcMemHandle handle{};
    on(1);
    expect_success(cu().ipc_get_mem_handle(&handle, block->address()));
    to_test.send(&handle, sizeof handle);
    char word = 0;
    ASSERT_TRUE(to_test.receive(&word, 1));
    auto wanted = pattern(imported_size, 1);
    auto const sent = pattern(imported_size, 2);
    std::mt19937_64 random(9);
    copy_images(random_pieces(imported_size, 0, imported_size, imported_piece, random),
                imported_size, wanted, 0, sent);
    EXPECT_TRUE(read_by_driver(block->address(), imported_size) == wanted);
    ::_exit(HasFailure());
}

TEST_F(peer_batch_test, memory_of_another_process_on_the_other_gpu_is_reached) {
    batch_queue queue = queue_of(0);
    other_run owner("peer_batch_test.DISABLED_owner");
    CUipcMemHandle handle{};
    ASSERT_TRUE(owner.receive(&handle, sizeof handle));
    CUdeviceptr there = 0;
    constexpr unsigned lazy_enable_peer_access = 1;
    expect_success(cu().ipc_open_mem_handle(&there, handle, lazy_enable_peer_access));
    print_attributes("opened by cuIpcOpenMemHandle", there);
    device_block const own(imported_size);
    write_by_driver(own.address(), pattern(imported_size, 2));
    std::mt19937_64 random(9);
    auto list = random_pieces(imported_size, 0, imported_size, imported_piece, random);
    for (copy_piece& each : list) {
        each.to += there - imported_size;
        each.from += own.address();
    }
    EXPECT_GE(list.size(), imported_pieces);
    auto const begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(queue.wait(queue.submit(list), 10s));
    std::printf("%zu pieces in %.2f ms\n", list.size(),
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                    .count());
    owner.send("x", 1); // lets it look
    EXPECT_EQ(owner.wait(), 0);
    expect_success(cu().ipc_close_mem_handle(there));
    EXPECT_EQ(queue.reports().back().failures, 0u);
}

} // namespace
} // namespace barmap::gpu_test
