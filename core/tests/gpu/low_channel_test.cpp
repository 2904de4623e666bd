// SPDX-License-Identifier: MIT
#include "gpu/gpu_identity.hpp"
#include "real_gpu.hpp"
#include "transfer/engine/engine.hpp"
#include "transfer/engine/transfer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>

/// The channel for batches as GPUs before Hopper need it, with all that it reads below 2^40; newer
/// ones take that form as well.
namespace barmap::gpu_test {
namespace {

using namespace std::chrono_literals;
using cuda::block_addresses;
using engine::direction;

class low_channel : public real_gpu {
protected:
    static constexpr std::size_t size = 64 * mib;

    void SetUp() override {
        real_gpu::SetUp();
        if (IsSkipped())
            return;
        block_.emplace(size);
        host_.emplace(size);
    }
    void TearDown() override {
        host_.reset();
        block_.reset();
        real_gpu::TearDown();
    }

    std::unique_ptr<engine::copy_engine> started(block_addresses where) {
        auto made = engine::make_channel_cuda(identify(0), where);
        made->start();
        return made;
    }

    /// Each part of one side to a random part of the other.
    std::vector<copy_piece> pieces_of(std::size_t bytes, direction which) {
        std::vector<std::size_t> places(size / bytes);
        std::iota(places.begin(), places.end(), 0);
        std::ranges::shuffle(places, random_);
        std::vector<copy_piece> result;
        for (std::size_t i = 0; i < std::min<std::size_t>(places.size(), 4096); ++i) {
            std::uint64_t const on_host = host_->address() + i * bytes;
            std::uint64_t const on_gpu = block_->address() + places[i] * bytes;
            if (which == direction::to_gpu)
                result.push_back({on_gpu, on_host, bytes});
            else
                result.push_back({on_host, on_gpu, bytes});
        }
        return result;
    }

    /// Copies there and back, and looks at every byte. @return the times in microseconds
    std::pair<double, double> copy(engine::copy_engine& by, std::size_t bytes, unsigned seed,
                                   engine::stream_order const& order = {}) {
        auto const there = pieces_of(bytes, direction::to_gpu);
        auto const sent = pattern(there.size() * bytes, seed);
        std::memcpy(host_->bytes().data(), sent.data(), sent.size());
        std::vector<copy_piece> back;
        for (copy_piece const& each : there)
            back.push_back({each.from, each.to, each.bytes});
        double const first = time(by, direction::to_gpu, there, order);
        std::memset(host_->bytes().data(), 0xee, sent.size());
        double const second = time(by, direction::to_cpu, back, order);
        EXPECT_EQ(std::memcmp(host_->bytes().data(), sent.data(), sent.size()), 0) << bytes;
        return {first, second};
    }

private:
    static double time(engine::copy_engine& by, direction which, std::span<copy_piece const> pieces,
                       engine::stream_order const& order) {
        auto const begin = std::chrono::steady_clock::now();
        auto const ticket = by.submit(which, pieces, pieces.size() * pieces[0].bytes, order);
        EXPECT_EQ(engine::wait(by, ticket, engine::device_clock::now() + 10s),
                  engine::copy_outcome::done);
        return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
            .count();
    }

    std::mt19937_64 random_{1};
    std::optional<device_block> block_; // made once there is a context
    std::optional<pinned_block> host_;
};

TEST_F(low_channel, copies_the_same) {
    std::unique_ptr<engine::copy_engine> ways[2];
    try {
        ways[0] = started(block_addresses::any);
        ways[1] = started(block_addresses::below_2_40);
    } catch (error const& failure) {
        GTEST_SKIP() << failure.what();
    }
    std::printf("bytes,high_to_gpu_us,low_to_gpu_us,high_to_cpu_us,low_to_cpu_us\n");
    for (std::size_t const bytes : {64, 512, 4096, 16384}) {
        std::pair<double, double> best[2]{{1e9, 1e9}, {1e9, 1e9}};
        for (unsigned i = 0; i < rounds(20); ++i)
            for (int way : {0, 1}) {
                auto const taken = copy(*ways[way], bytes, i);
                best[way] = {std::min(best[way].first, taken.first),
                             std::min(best[way].second, taken.second)};
            }
        std::printf("%zu,%.1f,%.1f,%.1f,%.1f\n", bytes, best[0].first, best[1].first,
                    best[0].second, best[1].second);
    }
}

TEST_F(low_channel, keeps_the_order_of_streams) {
    std::unique_ptr<engine::copy_engine> low;
    try {
        low = started(block_addresses::below_2_40);
    } catch (error const& failure) {
        GTEST_SKIP() << failure.what();
    }
    CUstream stream = nullptr;
    expect_success(cu().stream_create(&stream, 1));
    device_block const source(mib), middle(mib);
    pinned_block const sent(mib), host(mib);
    for (unsigned i = 0; i < rounds(200); ++i) {
        auto const value = static_cast<unsigned char>(i + 1);
        std::memset(sent.bytes().data(), value, mib);
        expect_success(cu().memcpy_htod_async(source.address(), sent.bytes().data(), mib, stream));
        std::vector<copy_piece> list;
        for (std::size_t at = 0; at < mib; at += 4096)
            list.push_back({middle.address() + at, source.address() + at, 4096});
        (void)low->submit(direction::to_cpu, list, mib, {stream, stream, {}});
        expect_success(cu().memcpy_dtoh_async(host.bytes().data(), middle.address(), mib, stream));
        expect_success(cu().stream_synchronize(stream));
        ASSERT_TRUE(std::ranges::all_of(host.bytes(), [&](std::byte each) {
            return each == std::byte{value};
        })) << i;
    }
    expect_success(cu().stream_destroy(stream));
}

} // namespace
} // namespace barmap::gpu_test
