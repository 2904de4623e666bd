// SPDX-License-Identifier: MIT
#include "measure/verify_copies.hpp"
#include "stress/engine_hammers.hpp"

#include "fake/instant_engine.hpp"
#include "transfer/cpu/plan.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

namespace barmap::tool {
namespace {

using engine::direction;
using engine::piece;
using fake::known_memory;

/// Copies within the process, and does with each piece whatever a test wants.
class faulty_engine final : public fake::instant_engine {
public:
    using fault = std::function<piece(std::uint64_t number, direction, piece)>;
    faulty_engine(std::span<std::byte const> gpu, fault what)
        : gpu_(gpu), fault_(std::move(what)) {}

    engine::ticket submit(direction, std::span<piece const> pieces, std::size_t,
                          engine::stream_order const&) override {
        for (piece const& each : pieces) {
            bool const to_gpu = each.to - reinterpret_cast<std::uintptr_t>(gpu_.data()) < gpu_.size();
            direction const way = to_gpu ? direction::to_gpu : direction::to_cpu;
            piece const now = fault_ ? fault_(number_++, way, each) : each;
            std::memcpy(reinterpret_cast<void*>(now.to), reinterpret_cast<void const*>(now.from),
                        now.bytes);
        }
        return ++last_;
    }

private:
    std::span<std::byte const> gpu_;
    fault fault_;
    std::uint64_t number_ = 0;
};

/// Memory of both sides, and a path between them with such a fault.
struct hammered {
    static constexpr std::size_t gpu_bytes = 64 * 1024, around = 256;
    explicit hammered(faulty_engine::fault what)
        : gpu(gpu_bytes + around), host(piece_hammer::host_bytes(gpu_bytes) + around),
          path(std::make_shared<engine::worker>(
                   std::make_unique<faulty_engine>(gpu, std::move(what))),
               std::make_unique<known_memory>(gpu), std::make_unique<known_memory>(host)) {}

    std::uint64_t wrong_pieces(std::uint64_t count = 20'000) {
        piece_hammer hammer(
            {path, gpu_bytes, std::span(host).first(piece_hammer::host_bytes(gpu_bytes))}, 5);
        hammer.run(count, [](std::uint64_t) {});
        EXPECT_GE(hammer.pieces(), count);
        EXPECT_GT(hammer.bytes(), count);
        return hammer.wrong();
    }
    std::uint64_t stale_pairs(pair_order order, std::uint64_t count = 2000) {
        copy_plan const plan =
            copy::plan_of_one(copy::find_routine("portable"), cache_kind::cached);
        return hammer_pairs({path, gpu_bytes, host}, window{gpu.data(), gpu_bytes, &plan}, order,
                            count, 7, [](std::uint64_t) {});
    }

    std::vector<std::byte> gpu, host;
    engine_path path;
};

/// The piece of this number is changed.
faulty_engine::fault once(std::uint64_t at, void (*change)(piece&)) {
    return [at, change](std::uint64_t number, direction, piece which) {
        if (number == at)
            change(which);
        return which;
    };
}

TEST(piece_hammer, finds_a_right_engine_right) {
    EXPECT_EQ(hammered({}).wrong_pieces(), 0u);
}

TEST(piece_hammer, notices_a_piece_that_is_not_copied) {
    // 200 in a row: one of a single byte may be right by chance.
    for (direction const lost : {direction::to_gpu, direction::to_cpu}) {
        auto const lose = [lost](std::uint64_t number, direction way, piece which) {
            if (number >= 1000 && number < 1200 && way == lost)
                which.bytes = 0;
            return which;
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
std::optional<std::string> verified(faulty_engine::fault what) {
    std::vector<std::byte> gpu(std::size_t{4} << 20), host(gpu.size());
    engine_path const path(
        std::make_shared<engine::worker>(std::make_unique<faulty_engine>(gpu, std::move(what))),
        std::make_unique<known_memory>(gpu), std::make_unique<known_memory>(host));
    gpu_access const access{
        [&](std::span<std::byte const> all) { std::copy(all.begin(), all.end(), gpu.begin()); },
        [&](std::span<std::byte> all) { std::copy(gpu.begin(), gpu.end(), all.begin()); }};
    return verify_copies(
        access, host,
        [&](direction way, std::span<place const> places) {
            std::vector<piece> pieces;
            for (place const& each : places)
                path.add(pieces, way, each.gpu, each.host, each.bytes);
            path.copy(pieces);
        },
        1);
}

TEST(verify_copies, finds_a_right_engine_right) {
    EXPECT_EQ(verified({}), std::nullopt);
}

TEST(verify_copies, notices_each_fault_in_each_direction) {
    for (auto* const change :
         {+[](piece& which) { which.bytes = 0; }, +[](piece& which) { --which.bytes; },
          +[](piece& which) { ++which.bytes; }, +[](piece& which) { ++which.to; },
          +[](piece& which) { ++which.from; }})
        for (direction const faulty : {direction::to_gpu, direction::to_cpu}) {
            bool changed = false;
            auto const once_there = [&](std::uint64_t, direction way, piece which) {
                if (!changed && way == faulty && which.bytes > 100) {
                    changed = true;
                    change(which);
                }
                return which;
            };
            auto const problem = verified(once_there);
            ASSERT_TRUE(problem);
            EXPECT_EQ(problem->find(faulty == direction::to_gpu ? "copied to the GPU: byte "
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
        auto const lose = [](std::uint64_t number, direction, piece which) {
            if (number % 100 == 99)
                which.bytes = 0;
            return which;
        };
        EXPECT_EQ(hammered(lose).stale_pairs(order, 2000), 20u);
    }
}

} // namespace
} // namespace barmap::tool
