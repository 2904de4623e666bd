// SPDX-License-Identifier: MIT
#include "contract/logged.hpp"
#include "contract/numbered.hpp"
#include "contract/ways_that_share.hpp"
#include "shared/changed_calls.hpp"
#include "shared/peer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

/// Logs that are opened by a descriptor, and what is none.
namespace barmap::contract {
namespace {

using namespace std::chrono_literals;
using gpu::word;
using test::line;

using shared_log_test = contract_test;

TEST_P(shared_log_test, what_is_no_log_is_refused) {
    device const gpu = device::open(0);
    log_ring const log(gpu, 64);
    os::fd const good(log.share());
    std::array<char, 4096> bytes{};
    ASSERT_EQ(::pread(good.get(), bytes.data(), bytes.size(), 0), 4096);
    std::size_t constexpr version = 8, slots = 16;
    auto const file_with = [&](std::size_t at, std::uint64_t value, std::size_t size = 4096) {
        os::fd file = os::memory_file(size);
        auto changed = bytes;
        std::memcpy(changed.data() + at, &value, sizeof value);
        EXPECT_EQ(::pwrite(file.get(), changed.data(), std::min(size, changed.size()), 0),
                  static_cast<ssize_t>(std::min(size, changed.size())));
        return file;
    };
    auto const refused = [&](os::fd const& file, char const* why = "share() of a log",
                             errc code = errc::invalid_argument) {
        expect_refusal([&] { (void)log_ring::open_shared(file.get()); }, code, "open a log", why);
    };
    (void)log_ring::open_shared(file_with(slots, 64).get());
    refused(file_with(version, 2), "one version in both processes", errc::unsupported_operation);
    refused(file_with(0, 7));
    for (std::uint64_t const count : {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{128},
                                      std::uint64_t{1} << 33, std::uint64_t{1} << 59})
        refused(file_with(slots, count));
    refused(file_with(slots, 64, 8192));
    refused(file_with(slots, 64, 40));
    os::fd const sparse = file_with(slots, 128, 8192);
    refused(sparse, "the file has holes");
    log_ring const unused(gpu, 1 << 14);
    EXPECT_EQ(opened(unused).slots(), std::size_t{1} << 14);
    ASSERT_EQ(::pwrite(sparse.get(), "", 1, 4096), 1);
    (void)log_ring::open_shared(sparse.get());
    refused(file_with(slots, 64, 0));
    refused(os::open_file("/dev/zero", O_RDWR));
    int const unsealed = ::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ASSERT_EQ(::pwrite(unsealed, bytes.data(), bytes.size(), 0), 4096);
    refused(os::fd(unsealed));
    refused(os::fd());
    // Of huge pages there may be none left at the first access.
    changed_calls calls;
    calls->file_system = [](int) -> long { return 0x958458f6; };
    refused(good);
}

// Rounds that are each ahead of the one before, and the first one of the last, since they wrap.
TEST_P(shared_log_test, whatever_another_process_writes_a_reader_returns) {
    log_ring log(device::open(0), 4);
    os::fd const file(log.share());
    std::minstd_rand random;
    for (int round = 0; round < 1000; ++round) {
        std::array<word, 4 * gpu::log_record_words::words> words{};
        for (std::size_t i = 1; i < words.size(); i += 2)
            words[i] = word{static_cast<std::uint32_t>(random() % 3 * 0x55555555)} << 32;
        ASSERT_EQ(::pwrite(file.get(), words.data(), sizeof words, 64),
                  static_cast<ssize_t>(sizeof words));
        auto other = opened(log);
        for (log_ring* each : {&log, &other}) {
            (void)each->wait_for(0ns);
            EXPECT_LE(all_of(*each).size(), 5u);
        }
    }
}

TEST_P(shared_log_test, nothing_is_held_in_the_end) {
    device const gpu = device::open(0);
    auto const before = the_machine().held();
    {
        os::fd descriptor;
        {
            log_ring log(gpu, 4);
            log_numbered(log.handle_for_thread(), 3);
            descriptor = os::fd(log.share());
        }
        auto far = log_ring::open_shared(descriptor.get());
        expect_ids(far, 3, 1); // it outlives its owner
    }
    EXPECT_EQ(the_machine().held(), before);
}

/// Peers are forked before there is a GPU, so that they have nothing of CUDA.
class log_peer_test : public simulated_gpu_alone {
protected:
    void SetUp() override {}
    void start_gpu() { simulated_gpu_alone::SetUp(); }
};

TEST_F(log_peer_test, another_process_reads_it_by_a_descriptor_or_a_path) {
    peer reader([](line const& to_test) {
        clear_environment("BARMAP_SIM"); // it needs no GPU at all
        auto log = log_ring::open_shared(os::fd(to_test.receive_descriptor()).get());
        for (std::uint32_t i = 0; i < 100; ++i) {
            EXPECT_TRUE(log.wait_for(60s));
            expect_ids(log, i, 1);
            to_test.send(&i, sizeof i);
        }
        int theirs = -1;
        EXPECT_TRUE(to_test.receive(&theirs, sizeof theirs));
        std::string const path =
            "/proc/" + std::to_string(::getppid()) + "/fd/" + std::to_string(theirs);
        os::fd const to_read = os::open_file(path, O_RDONLY);
        auto again = log_ring::open_shared(to_read.get());
        expect_ids(again, 84, 16);
        EXPECT_EQ(again.lost(), 84u);
    });
    start_gpu();
    log_ring log(device::open(0), 16);
    os::fd const descriptor(log.share());
    reader.send_descriptor(descriptor.get());
    for (std::uint32_t i = 0; i < 100; ++i) {
        log_numbered(log.handle_for_thread(), i);
        std::uint32_t seen = 0;
        ASSERT_TRUE(reader.receive(&seen, sizeof seen));
        EXPECT_EQ(seen, i);
    }
    int const number = descriptor.get();
    reader.send(&number, sizeof number);
    EXPECT_EQ(reader.wait(), 0);
}

TEST_F(log_peer_test, a_killed_process_leaves_what_it_has_logged) {
    for (int round = 0; round < 4; ++round) {
        peer owner([&](line const& to_test) {
            start_gpu();
            log_ring log(device::open(0), 64);
            to_test.send_descriptor(os::fd(log.share()).get());
            for (std::uint32_t i = 0;; ++i)
                log_numbered(log.handle_for_thread(), i);
        });
        auto log = log_ring::open_shared(os::fd(owner.receive_descriptor()).get());
        std::uint64_t count = log.lost(), newest = 0;
        auto const read = [&] {
            for (log_record const& each : all_of(log)) {
                EXPECT_TRUE(is_whole(each) && each.number == each.id);
                ++count;
                newest = each.number;
            }
        };
        while (newest < 1000u + 77u * static_cast<unsigned>(round) && log.wait_for(60s))
            read();
        owner.kill();
        while (log.wait_for(500ms))
            read();
        EXPECT_GT(newest, 1000u);
        auto next = opened(log);
        auto const left = all_of(next);
        ASSERT_GE(left.size(), 62u) << "one may be half written";
        EXPECT_GE(left.back().number, newest);
    }
}

BARMAP_OVER_KINDS_OF_MEMORY(shared_log_test);

} // namespace
} // namespace barmap::contract
