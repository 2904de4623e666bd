// SPDX-License-Identifier: MIT
#include "machine.hpp"
#include "shared/in_child.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>

/// Handles: which are live, who outlives whom, and threads.
namespace barmap::vkgdr_test {
namespace {

using handle_test = vkgdr_test;

constexpr std::size_t bytes = 100'000;

void expect_dead(vkgdr_memory_t memory, char const* words) {
    auto const refused = [&](auto const& call) {
        EXPECT_EQ(vkgdr_open(0, 8), nullptr); // sets another error
        call();
        expect_error(words);
    };
    refused([&] { EXPECT_EQ(vkgdr_memory_get_host_ptr(memory), nullptr); });
    refused([&] { EXPECT_EQ(vkgdr_memory_get_device_ptr(memory), 0u); });
    refused([&] { EXPECT_EQ(vkgdr_memory_get_size(memory), 0u); });
    refused([&] { EXPECT_FALSE(vkgdr_memory_is_coherent(memory)); });
    refused([&] { EXPECT_EQ(vkgdr_memory_non_coherent_atom_size(memory), 0u); });
    refused([&] { vkgdr_memory_flush(memory, 0, 1); });
    refused([&] { vkgdr_memory_invalidate(memory, 0, 1); });
}

// Whether it can come back is a matter of the backend that made it: Vulkan's cannot.
TEST_P(handle_test, live_memory_comes_back_after_a_checkpoint) {
    {
        opened const gpu;
        allocated const memory(gpu, bytes);
        std::byte* const at = memory.cpu();
        std::memset(at, 5, bytes);
        EXPECT_EQ(vkgdr_open(0, 8), nullptr); // sets an error, which a success clears
        if (vkgdr_barmap_checkpoint_prepare(1'000'000'000)) {
            EXPECT_FALSE(GetParam().vulkan);
            EXPECT_EQ(last_error(), "(none)");
            EXPECT_EQ(vkgdr_memory_alloc(gpu.get(), bytes, 0), nullptr);
            expect_error("prepared for a checkpoint");
            EXPECT_TRUE(vkgdr_barmap_checkpoint_restore()) << last_error();
            EXPECT_EQ(last_error(), "(none)");
        } else {
            EXPECT_STRNE(GetParam().name, "simulated_gpu") << last_error();
            expect_error("memory that the backend allocated");
            expect_error("(backend vulkan)");
        }
        EXPECT_EQ(memory.cpu(), at);
        EXPECT_EQ(at[bytes - 1], std::byte{5});
    }
    EXPECT_TRUE(vkgdr_barmap_checkpoint_prepare(1'000'000'000)) << last_error();
    EXPECT_EQ(vkgdr_open(0, 0), nullptr);
    expect_error("prepared for a checkpoint");
    EXPECT_TRUE(vkgdr_barmap_checkpoint_restore()) << last_error();
}

TEST_P(handle_test, null) {
    expect_dead(nullptr, "NULL");
    EXPECT_EQ(vkgdr_memory_alloc(nullptr, 100, 0), nullptr);
    expect_error("NULL");
    vkgdr_memory_free(nullptr);
    vkgdr_close(nullptr);
}

TEST_P(handle_test, what_was_released_is_dead_for_ever) {
    opened const gpu;
    vkgdr_memory_t const freed = vkgdr_memory_alloc(gpu.get(), bytes, 0);
    vkgdr_memory_free(freed);
    allocated const other(gpu, bytes); // might come to lie where the other was
    EXPECT_NE(other.get(), freed);
    expect_dead(freed, "released before");
    vkgdr_memory_free(freed);
    expect_error("released before");
    EXPECT_NE(other.cpu(), nullptr);

    vkgdr_t const closed = vkgdr_open(0, VKGDR_OPEN_CURRENT_CONTEXT_BIT);
    vkgdr_close(closed);
    EXPECT_EQ(vkgdr_memory_alloc(closed, 100, 0), nullptr);
    expect_error("released before");
    vkgdr_close(closed);
    expect_error("released before");
}

TEST_P(handle_test, what_is_no_handle_or_one_of_another_kind) {
    opened const gpu;
    allocated const memory(gpu, bytes);
    char on_the_stack[64] = {};
    expect_dead(reinterpret_cast<vkgdr_memory_t>(on_the_stack), "no vkgdr_memory_t handle");
    expect_dead(reinterpret_cast<vkgdr_memory_t>(gpu.get()), "no vkgdr_memory_t handle");
    EXPECT_EQ(vkgdr_memory_alloc(reinterpret_cast<vkgdr_t>(memory.get()), 100, 0), nullptr);
    expect_error("no vkgdr_t handle");
}

TEST_P(handle_test, memory_outlives_the_handle_of_its_gpu) {
    opened gpu;
    allocated const memory(gpu, bytes);
    gpu.close();
    std::vector<std::byte> const written = pattern(bytes, 1);
    std::memcpy(memory.cpu(), written.data(), bytes);
    vkgdr_memory_flush(memory.get(), 0, bytes);
    std::vector<std::byte> seen(bytes);
    expect_success(cu().memcpy_dtoh(seen.data(), memory.gpu(), bytes));
    EXPECT_TRUE(seen == written);
}

TEST_P(handle_test, several_handles_of_one_gpu_are_independent) {
    opened first, second;
    EXPECT_NE(first.get(), second.get());
    allocated const memory(first, bytes);
    first.close();
    allocated const other(second, bytes);
    EXPECT_NE(memory.gpu(), other.gpu());
}

TEST_P(handle_test, memory_is_freed_in_any_context) {
    opened const gpu;
    allocated const keeps_what_is_made_once(gpu, bytes);
    std::size_t const before = free_gpu_memory();
    constexpr std::size_t large = std::size_t{32} << 20;
    vkgdr_memory_t memory = vkgdr_memory_alloc(gpu.get(), large, 0);
    without_context([&] { vkgdr_memory_free(memory); });
    memory = vkgdr_memory_alloc(gpu.get(), large, 0);
    std::thread([&] { vkgdr_memory_free(memory); }).join();
    EXPECT_EQ(free_gpu_memory(), before);
}

TEST_P(handle_test, a_forked_child_is_refused_and_disturbs_nothing) {
    opened const gpu;
    allocated const memory(gpu, bytes);
    std::memset(memory.cpu(), 7, bytes);
    expect_exit(0, test::in_child(0, [&] {
                    bool const refused = vkgdr_memory_get_host_ptr(memory.get()) == nullptr &&
                                         vkgdr_memory_alloc(gpu.get(), 100, 0) == nullptr &&
                                         last_error().find("parent") != std::string::npos;
                    vkgdr_memory_free(memory.get());
                    vkgdr_close(gpu.get());
                    ::_exit(refused ? 0 : 1);
                }));
    std::byte seen{};
    vkgdr_memory_flush(memory.get(), 0, bytes);
    expect_success(cu().memcpy_dtoh(&seen, memory.gpu() + bytes - 1, 1));
    EXPECT_EQ(seen, std::byte{7});
}

TEST_P(handle_test, a_process_may_end_with_live_handles) {
    testing::FLAGS_gtest_death_test_style = "threadsafe"; // a new process: CUDA does not fork
    EXPECT_EXIT(
        {
            vkgdr_t const gpu = vkgdr_open(0, VKGDR_OPEN_CURRENT_CONTEXT_BIT);
            vkgdr_memory_t const memory = vkgdr_memory_alloc(gpu, bytes, 0);
            std::memset(vkgdr_memory_get_host_ptr(memory), 1, bytes);
            std::exit(0);
        },
        testing::ExitedWithCode(0), "");
}

TEST_P(handle_test, on_threads_with_one_handle) {
    opened const gpu;
    allocated const shared(gpu, bytes);
    CUcontext context = nullptr;
    expect_success(cu().ctx_get_current(&context));
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 4; ++thread)
        threads.emplace_back([&, thread] {
            wrong += cu().ctx_set_current(context) != cuda::success;
            for (unsigned round = 0; round < 20; ++round) {
                vkgdr_memory_t const own = vkgdr_memory_alloc(gpu.get(), 1000 + round, 0);
                auto* const cpu = static_cast<unsigned char*>(vkgdr_memory_get_host_ptr(own));
                wrong += !cpu || vkgdr_memory_get_size(own) != 1000 + round;
                if (cpu)
                    std::memset(cpu, static_cast<int>(thread), 1000 + round);
                shared.cpu()[thread * 64] = std::byte{1};
                vkgdr_memory_flush(shared.get(), 0, bytes);
                vkgdr_memory_invalidate(own, 0, 1000);
                wrong += cpu && (cpu[0] != thread || cpu[999] != thread);
                vkgdr_memory_free(own);
                wrong += vkgdr_memory_get_host_ptr(own) != nullptr;
                vkgdr_t const again = vkgdr_open(0, VKGDR_OPEN_CURRENT_CONTEXT_BIT);
                wrong += again == nullptr;
                vkgdr_close(again);
            }
        });
    for (std::thread& each : threads)
        each.join();
    EXPECT_EQ(wrong, 0);
}

BARMAP_ON_ALL_MACHINES(handle_test);

} // namespace
} // namespace barmap::vkgdr_test
