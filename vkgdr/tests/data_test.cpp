// SPDX-License-Identifier: MIT
#include "machine.hpp"

#include "add_on_gpu.h"

#include <cstdlib>
#include <cstring>
#include <utility>

/// What the two addresses of some memory reach.
namespace barmap::vkgdr_test {
namespace {

using data_test = vkgdr_test;

constexpr std::uint32_t open_flags[] = {by_context, by_context | VKGDR_OPEN_REQUIRE_COHERENT,
                                        by_context | VKGDR_OPEN_FORCE_NON_COHERENT_BIT,
                                        by_context | VKGDR_OPEN_REQUIRE_COHERENT_BIT |
                                            VKGDR_OPEN_FORCE_NON_COHERENT_BIT};

/// The CPU writes, the driver reads, then the other way round: every byte.
void expect_one_memory(allocated const& memory, std::size_t bytes, unsigned seed) {
    cuda::driver_api const& cu = cuda::api();
    std::vector<std::byte> const first = pattern(bytes, seed), second = pattern(bytes, seed + 1);
    std::vector<std::byte> seen(bytes);
    std::memcpy(memory.cpu(), first.data(), bytes);
    vkgdr_memory_flush(memory.get(), 0, bytes);
    expect_success(cu.memcpy_dtoh(seen.data(), memory.gpu(), bytes));
    EXPECT_TRUE(seen == first) << bytes << " bytes, written by the CPU";
    expect_success(cu.memcpy_htod(memory.gpu(), second.data(), bytes));
    expect_success(cu.ctx_synchronize());
    vkgdr_memory_invalidate(memory.get(), 0, bytes);
    std::memcpy(seen.data(), memory.cpu(), bytes);
    EXPECT_TRUE(seen == second) << bytes << " bytes, written by the driver";
    EXPECT_EQ(last_error(), "(none)");
}

TEST_P(data_test, both_sides_see_one_memory_whatever_its_size_and_flags) {
    unsigned seed = 1;
    for (std::uint32_t const flags : open_flags) {
        opened const gpu(flags);
        for (std::size_t const bytes :
             {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{4097},
              std::size_t{65536}, (std::size_t{2} << 20) + 1, std::size_t{64} << 20}) {
            bool const large = bytes > (std::size_t{4} << 20);
            if (large && flags != by_context)
                continue;
            allocated const memory(gpu, bytes);
            EXPECT_EQ(vkgdr_memory_get_size(memory.get()), bytes);
            expect_one_memory(memory, bytes, seed++);
        }
    }
}

// BARMAP_TEST_LARGE=1: needs 1 GiB of GPU memory that the CPU can see, and time.
TEST_P(data_test, a_gibibyte) {
    if (!std::getenv("BARMAP_TEST_LARGE"))
        GTEST_SKIP() << "BARMAP_TEST_LARGE is not set";
    constexpr std::size_t bytes = std::size_t{1} << 30;
    opened const gpu;
    allocated const memory(gpu, bytes);
    expect_one_memory(memory, bytes, 1);
}

TEST_P(data_test, coherence_is_what_was_asked_for) {
    for (std::uint32_t const flags : open_flags) {
        opened const gpu(flags);
        allocated const memory(gpu, 1000);
        bool const coherent = !(flags & VKGDR_OPEN_FORCE_NON_COHERENT_BIT);
        EXPECT_EQ(vkgdr_memory_is_coherent(memory.get()), coherent);
        EXPECT_EQ(vkgdr_memory_non_coherent_atom_size(memory.get()), coherent ? 1u : 64u);
    }
}

TEST_P(data_test, a_kernel_reads_and_writes_it) {
    constexpr std::size_t count = 10'000, bytes = count * sizeof(float);
    add_on_gpu add;
    ASSERT_EQ(add_on_gpu_start(&add), 0);
    for (std::uint32_t const flags : open_flags) {
        opened const gpu(flags);
        allocated const a(gpu, bytes), b(gpu, bytes), sum(gpu, bytes);
        auto* const cpu_a = reinterpret_cast<float*>(a.cpu());
        auto* const cpu_b = reinterpret_cast<float*>(b.cpu());
        auto* const cpu_sum = reinterpret_cast<float*>(sum.cpu());
        for (std::size_t i = 0; i < count; ++i) {
            cpu_a[i] = static_cast<float>(i);
            cpu_b[i] = 0.5f;
        }
        vkgdr_memory_flush(a.get(), 0, bytes);
        vkgdr_memory_flush(b.get(), 0, bytes);
        ASSERT_EQ(add_on_gpu_run(&add, a.gpu(), b.gpu(), sum.gpu(), count), 0);
        vkgdr_memory_invalidate(sum.get(), 0, bytes);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < count; ++i)
            wrong += cpu_sum[i] != static_cast<float>(i) + 0.5f;
        EXPECT_EQ(wrong, 0u);
    }
}

TEST_P(data_test, a_gpu_can_be_opened_by_its_number_without_a_context) {
    without_context([] {
        opened const gpu(0);
        EXPECT_NE(gpu.get(), nullptr);
    });
    opened const gpu(0);
    allocated const memory(gpu, 1000);
    expect_one_memory(memory, 1000, 1);
}

TEST_P(data_test, it_works_in_a_context_that_is_not_the_primary_one) {
    CUcontext own = nullptr;
    expect_success(cu().ctx_create(&own, 0, 0));
    {
        opened const gpu;
        allocated const memory(gpu, 100'000);
        expect_one_memory(memory, 100'000, 1);
    }
    expect_success(cu().ctx_destroy(own));
}

BARMAP_ON_ALL_MACHINES(data_test);

} // namespace
} // namespace barmap::vkgdr_test
