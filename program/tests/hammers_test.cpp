// SPDX-License-Identifier: MIT
#include "measure/usable_engines.hpp"
#include "measure/verify_copies.hpp"
#include "stress/engine_hammers.hpp"

#include <barmap/copy.hpp>
#include <barmap/device.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace barmap::tool {
namespace {

/// One copy.
struct piece {
    std::byte* to;
    std::byte const* from;
    std::size_t bytes;
};

/// Does with the piece of a number whatever a test wants, before it is copied.
using fault = std::function<void(std::uint64_t number, copy_direction, piece&)>;

/// Copies within the process.
copier faulty_copier(std::span<std::byte> gpu, std::span<std::byte> host, fault change) {
    return
        [=, number = std::uint64_t{0}](copy_direction way,
                                       std::span<copy_place const> places) mutable {
            for (copy_place const& each : places) {
                std::byte *const there = &gpu[each.gpu], *const here = &host[each.host];
                piece now = way == copy_direction::to_gpu ? piece{there, here, each.bytes}
                                                          : piece{here, there, each.bytes};
                if (change)
                    change(number++, way, now);
                std::memcpy(now.to, now.from, now.bytes);
            }
        };
}

pin allocated(std::size_t bytes) {
    setenv("BARMAP_SIM", "1", 1);
    return device::open(0).allocate(bytes);
}

/// Memory of both sides, and a copier between them with such a fault.
struct hammered {
    static constexpr std::size_t gpu_bytes = 64 * 1024, around = 256;
    explicit hammered(fault what)
        : host(piece_hammer::host_bytes(gpu_bytes) + around),
          copy(faulty_copier({gpu.data(), gpu.size()}, host, std::move(what))) {}

    std::uint64_t wrong_pieces(std::uint64_t count = 20'000) {
        piece_hammer hammer(
            {copy, gpu_bytes, std::span(host).first(piece_hammer::host_bytes(gpu_bytes))}, 5);
        hammer.run(count, [](std::uint64_t) {});
        EXPECT_GE(hammer.pieces(), count);
        EXPECT_GT(hammer.bytes(), count);
        return hammer.wrong();
    }
    std::uint64_t stale_pairs(pair_order order, std::uint64_t count = 2000) {
        return hammer_pairs({copy, gpu_bytes, host}, gpu.window(), order, count, 7,
                            [](std::uint64_t) {});
    }

    mapping gpu = allocated(gpu_bytes + around).map();
    std::vector<std::byte> host;
    copier copy;
};

/// The piece of this number is changed.
fault once(std::uint64_t at, void (*change)(piece&)) {
    return [at, change](std::uint64_t number, copy_direction, piece& which) {
        if (number == at)
            change(which);
    };
}

TEST(piece_hammer, finds_a_right_engine_right) {
    EXPECT_EQ(hammered({}).wrong_pieces(), 0u);
}

TEST(piece_hammer, notices_a_piece_that_is_not_copied) {
    // 200 in a row: one of a single byte may be right by chance.
    for (copy_direction const lost : {copy_direction::to_gpu, copy_direction::to_cpu}) {
        auto const lose = [lost](std::uint64_t number, copy_direction way, piece& which) {
            if (number >= 1000 && number < 1200 && way == lost)
                which.bytes = 0;
        };
        EXPECT_GT(hammered(lose).wrong_pieces(), 20u) << int(lost);
    }
}

TEST(piece_hammer, notices_one_byte_too_few_or_too_many) {
    for (auto* const change :
         {+[](piece& which) { --which.bytes; }, +[](piece& which) { ++which.bytes; }}) {
        std::uint64_t noticed = 0;
        for (std::uint64_t at = 1000; at < 1020; ++at) // the byte may be the same by chance
            noticed += hammered(once(at, change)).wrong_pieces(2000) > 0;
        EXPECT_GT(noticed, 15u);
    }
}

TEST(piece_hammer, notices_a_piece_at_a_wrong_place) {
    for (auto* const change :
         {+[](piece& which) { which.to += 8; }, +[](piece& which) { which.from += 8; }})
        EXPECT_GT(hammered(once(1001, change)).wrong_pieces(2000), 0u);
}

/// What verify_copies() says of copies with this fault.
std::optional<std::string> verified(fault what) {
    std::vector<std::byte> gpu(std::size_t{4} << 20), host(gpu.size());
    gpu_access const access{
        [&](std::span<std::byte const> all) { std::copy(all.begin(), all.end(), gpu.begin()); },
        [&](std::span<std::byte> all) { std::copy(gpu.begin(), gpu.end(), all.begin()); }};
    return verify_copies(access, host, faulty_copier(gpu, host, std::move(what)), 1);
}

TEST(verify_copies, finds_a_right_engine_right) {
    EXPECT_EQ(verified({}), std::nullopt);
}

TEST(verify_copies, notices_each_fault_in_each_direction) {
    for (auto* const change :
         {+[](piece& which) { which.bytes = 0; }, +[](piece& which) { --which.bytes; },
          +[](piece& which) { ++which.bytes; }, +[](piece& which) { ++which.to; },
          +[](piece& which) { ++which.from; }})
        for (copy_direction const faulty : {copy_direction::to_gpu, copy_direction::to_cpu}) {
            bool changed = false;
            auto const once_there = [&](std::uint64_t, copy_direction way, piece& which) {
                if (!changed && way == faulty && which.bytes > 100) {
                    changed = true;
                    change(which);
                }
            };
            auto const problem = verified(once_there);
            ASSERT_TRUE(problem);
            EXPECT_EQ(problem->find(faulty == copy_direction::to_gpu ? "copied to the GPU: byte "
                                                                     : "copied to the CPU: byte "),
                      0u)
                << *problem;
        }
}

TEST(pair_hammer, finds_a_right_engine_right) {
    for (pair_order const order :
         {pair_order::mapping_then_engine, pair_order::engine_then_mapping})
        EXPECT_EQ(hammered({}).stale_pairs(order), 0u);
}

TEST(pair_hammer, counts_each_stale_copy) {
    for (pair_order const order :
         {pair_order::mapping_then_engine, pair_order::engine_then_mapping}) {
        auto const lose = [](std::uint64_t number, copy_direction, piece& which) {
            if (number % 100 == 99)
                which.bytes = 0;
        };
        EXPECT_EQ(hammered(lose).stale_pairs(order, 2000), 20u);
    }
}

TEST(copier_through, copies_between_places_of_a_part_of_the_mapping) {
    mapping const gpu = allocated(4096).map();
    std::vector<std::byte> host(300), content(4096), expected(4096);
    std::iota(reinterpret_cast<unsigned char*>(host.data()),
              reinterpret_cast<unsigned char*>(host.data() + host.size()), 1);
    write(gpu.window(), content);
    copy_place const places[]{{3, 20, 70}, {100, 200, 7}};
    copier_through(gpu, host, 1000)(copy_direction::to_gpu, places);
    read(content, gpu.window());
    std::copy_n(&host[20], 70, &expected[1003]);
    std::copy_n(&host[200], 7, &expected[1100]);
    EXPECT_EQ(content, expected);

    std::vector<std::byte> back(300), returned(300);
    copier_through(gpu, back, 1000)(copy_direction::to_cpu, places);
    std::copy_n(&host[20], 70, &returned[20]);
    std::copy_n(&host[200], 7, &returned[200]);
    EXPECT_EQ(back, returned);
}

TEST(copier_at_once, copies_each_place_once_in_threads_of_their_own) {
    for (std::size_t const count : {0, 1, 3, 4, 5, 1000}) {
        std::mutex lock;
        std::multiset<std::size_t> copied;
        std::atomic<int> calls{0};
        copier const four = at_once(
            [&](copy_direction way, std::span<copy_place const> places) {
                EXPECT_EQ(way, copy_direction::to_cpu);
                for (++calls; calls < 4;) // for ever, unless all run at once
                    std::this_thread::yield();
                std::lock_guard const hold(lock);
                for (copy_place const& each : places)
                    copied.insert(each.gpu);
            },
            4);
        std::vector<copy_place> places;
        std::multiset<std::size_t> expected;
        for (std::size_t i = 0; i < count; ++i) {
            places.push_back({i, 0, 1});
            expected.insert(i);
        }
        four(copy_direction::to_cpu, places);
        EXPECT_EQ(copied, expected);
        EXPECT_EQ(calls, 4);
    }
}

TEST(with_next_engine, does_the_work_again_until_too_many_copies_have_failed) {
    mapping through = allocated(4096).map();
    unsigned calls = 0, late = 0;
    auto const failing = [&](errc how, unsigned times) {
        calls = late = 0;
        return with_next_engine(through, "driver", late, [&] {
            if (++calls <= times)
                throw error(how, "copy", "", "copy again");
            return calls;
        });
    };
    EXPECT_EQ(failing(errc::backend_broken, 3), 4u);
    EXPECT_EQ(late, 3u);
    EXPECT_EQ(through.engines_from(copy_direction::to_gpu), 0u) << "by an engine";
    EXPECT_THROW((void)failing(errc::backend_broken, 4), error);
    EXPECT_EQ(calls, 4u);
    // Neither side may be used again.
    EXPECT_THROW((void)failing(errc::copy_unfinished, 1), error);
    EXPECT_EQ(calls, 1u);
}

TEST(copier_at_once, throws_what_one_of_its_threads_does) {
    std::vector<copy_place> const places{{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {3, 0, 1}};
    for (copy_place const& faulty : places) {
        std::atomic<int> calls{0};
        copier const four = at_once(
            [&](copy_direction, std::span<copy_place const> some) {
                ++calls;
                if (some.front().gpu == faulty.gpu)
                    throw std::runtime_error("a copy failed");
            },
            4);
        EXPECT_THROW(four(copy_direction::to_gpu, places), std::runtime_error);
        EXPECT_EQ(calls, 4) << "and waits for the others";
    }
}

} // namespace
} // namespace barmap::tool
