// SPDX-License-Identifier: MIT
#include "base/config.hpp"
#include "kernel_queue_kernels.ptx.hpp"
#include "odd_pieces.hpp"
#include "real_gpu.hpp"

#include <barmap/kernel_queue.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

/// A queue that many warps feed at the same time.
namespace barmap::gpu_test {
namespace {

using barmap::gpu::word;

class shared_queue_test : public real_gpu {
protected:
    static constexpr unsigned blocks = 128, lists = 32;
    static constexpr std::size_t pool = std::size_t{64} << 20;

    void SetUp() override {
        real_gpu::SetUp();
        if (IsSkipped() || testing::Test::HasFatalFailure())
            return;
        expect_success(cu().module_load_data(&module_, ptx::kernel_queue_kernels));
        expect_success(cu().module_get_function(&kernel_, module_, "barmap_test_shared"));
    }
    void TearDown() override {
        if (module_)
            cu().module_unload(module_);
        real_gpu::TearDown();
    }

    /// Copies random lists of each block, and looks at every byte.
    void copy_random_lists(kernel_queue const& queue, unsigned rounds) {
        device_block const first(pool), second(pool);
        pinned_block const host(pool), signals(4096), failures(4096);
        std::vector<std::byte> const sent = pattern(pool, 77);
        std::mt19937_64 random(4711);
        device_block const table(std::size_t{blocks} * lists * 64 * sizeof(gpu::copy_piece));
        for (unsigned round = 0; round < rounds; ++round) {
            unsigned const way = round % 3; // to the host, from it, inside the GPU
            int scope = static_cast<int>(round / 3 % 2);
            unsigned count = round % 4 == 0 ? 64 : 2 + static_cast<unsigned>(random() % 39);
            std::size_t const pieces = std::size_t{blocks} * lists * count;
            std::uint64_t const from = way == 1 ? host.address() : first.address();
            std::uint64_t const to = way == 0 ? host.address() : second.address();
            std::vector<std::byte> expected(pool, std::byte{0x5a});
            write_by_driver(first.address(), sent.data(), pool);
            fill_by_driver(second.address(), 0x5a, pool);
            if (way == 1)
                std::memcpy(host.bytes().data(), sent.data(), pool);
            else
                std::memset(host.bytes().data(), 0x5a, pool);
            std::vector<gpu::copy_piece> all;
            std::size_t const slot = pool / pieces;
            for (std::size_t i = 0; i < pieces; ++i) {
                std::size_t const bytes = random() % (slot + 1),
                                  at = i * slot + random() % (slot - bytes + 1),
                                  source = random() % (pool - bytes);
                all.push_back({to + at, from + source, bytes});
            }
            std::ranges::shuffle(all, random);
            put_odd_pieces(all, count, random);
            for (gpu::copy_piece const& each : all)
                if (each.bytes != 0 && each.bytes <= slot)
                    std::memcpy(expected.data() + (each.to - to), sent.data() + (each.from - from),
                                each.bytes);
            write_by_driver(table.address(), all.data(), all.size() * sizeof all[0]);
            std::memset(signals.bytes().data(), 0, 4096);
            std::memset(failures.bytes().data(), 0, 4096);
            gpu::kernel_queue handle = queue.handle();
            std::uint64_t pieces_at = table.address(), signals_at = signals.address(),
                          failures_at = failures.address();
            unsigned of_block = lists;
            void* arguments[] = {&handle, &pieces_at,  &of_block,   &count,
                                 &scope,  &signals_at, &failures_at};
            expect_success(cu().launch_kernel(kernel_, blocks, 1, 1, 32, 1, 1, 0, nullptr,
                                              arguments, nullptr));
            expect_success(cu().ctx_synchronize());
            word found = 0;
            std::memcpy(&found, failures.bytes().data(), sizeof found);
            ASSERT_EQ(found, 0u);
            for (unsigned block = 0; block < blocks; ++block) {
                word signal = 0;
                std::memcpy(&signal, signals.bytes().data() + block * 8, sizeof signal);
                ASSERT_EQ(signal, ~word{block});
            }
            std::vector<std::byte> seen(pool);
            if (way == 0)
                std::memcpy(seen.data(), host.bytes().data(), pool);
            else
                expect_success(cu().memcpy_dtoh(seen.data(), second.address(), pool));
            ASSERT_TRUE(same_bytes(seen, expected)) << "way " << way;
            queue.check();
        }
    }

    static std::optional<kernel_queue> make_queue() {
        try {
            return kernel_queue(device::open(0), {.is_shared = true});
        } catch (error const& none) {
            if (none.code() != errc::backend_absent)
                throw;
            return std::nullopt;
        }
    }

    CUmodule module_ = nullptr;
    CUfunction kernel_ = nullptr;
};

TEST_F(shared_queue_test, copies_random_lists_of_many_warps_byte_for_byte) {
    std::optional<kernel_queue> const queue = make_queue();
    if (!queue)
        GTEST_SKIP() << "no kernel queue";
    copy_random_lists(*queue, rounds(12));
}

TEST_F(shared_queue_test, the_cpu_rings_for_them) {
    ::setenv("BARMAP_DOORBELL", "cpu", 1);
    config::read_again();
    std::optional<kernel_queue> const queue = make_queue();
    if (!queue)
        GTEST_SKIP() << "no kernel queue";
    ASSERT_TRUE(queue->is_rung_by_cpu());
    copy_random_lists(*queue, rounds(6));
}

} // namespace
} // namespace barmap::gpu_test
