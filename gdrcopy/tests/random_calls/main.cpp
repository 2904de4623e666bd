// SPDX-License-Identifier: MIT
// Random calls of libgdrapi by several threads on the same sessions and handles: right ones, stale
// ones and nonsense. Every call answers 0 or an errno, nothing crashes, and nothing is left behind.
//
//   random_calls_test [--seed N] [--calls N] [--threads N]
//
// It fails, too, where a function never succeeded or was never refused: then it tested little.
#include "caller.hpp"
#include "shared/gpu_memory.h"
#include "holdings.hpp"

#include <chrono>
#include <iostream>
#include <string_view>
#include <thread>

namespace {

using namespace barmap::dropin;

std::uint64_t option(int count, char** arguments, std::string_view name, std::uint64_t otherwise) {
    for (int i = 1; i + 1 < count; ++i)
        if (arguments[i] == name)
            return std::strtoull(arguments[i + 1], nullptr, 0);
    return otherwise;
}

std::vector<target> targets_of(std::vector<gpu_block> const& blocks, gpu_chunks const& chunks) {
    std::vector<target> targets;
    for (gpu_block const& each : blocks)
        targets.push_back({each.address, each.size});
    targets.push_back({chunks.address, chunks.chunk_size * chunks.count});
    return targets;
}

/// What a backend makes once and keeps is made before anything is counted.
void warm_up(std::uint64_t address) {
    gdr_t const g = gdr_open();
    gdr_mh_t handle{};
    void* va = nullptr;
    if (!g || gdr_pin_buffer(g, address, 1, 0, 0, &handle) != 0 ||
        gdr_map(g, handle, &va, GPU_PAGE_SIZE) != 0 || gdr_close(g) != 0)
        fail("the library does not work at all");
}

} // namespace

int main(int count, char** arguments) {
    auto const clock = std::chrono::steady_clock::now();
    std::uint64_t const seed = option(count, arguments, "--seed",
                                      static_cast<std::uint64_t>(clock.time_since_epoch().count()));
    std::uint64_t const calls = option(count, arguments, "--calls", 1'000'000);
    std::uint64_t const threads = option(count, arguments, "--threads", 4);
    std::printf("random_calls: --seed %llu --calls %llu --threads %llu\n",
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(calls),
                static_cast<unsigned long long>(threads));
    std::fflush(stdout);

    cuda_driver const cuda = start_cuda(0);
    std::vector<gpu_block> blocks;
    for (std::size_t const size : {1, 100, 4096, 65536, 70000, 300000, 2 << 20, (4 << 20) + 5})
        blocks.push_back(allocate_block(&cuda, size, static_cast<unsigned>(blocks.size())));
    gpu_block const bystander = allocate_block(&cuda, 5 << 20, 99);
    gpu_chunks const chunks = make_chunks(&cuda, 3);
    warm_up(blocks[0].address);
    holdings const before = holdings::now();

    counts counted;
    playground common(targets_of(blocks, chunks));
    // Threads come and go, and what they left is used by those that follow.
    constexpr std::uint64_t generations = 8;
    for (std::uint64_t generation = 1; generation <= generations; ++generation) {
        std::vector<std::jthread> running;
        for (std::uint64_t i = 0; i < threads; ++i)
            running.emplace_back([&, i] {
                if (i % 2 == 0) // the others have no CUDA context
                    require_cuda(cuda.set_current(cuda.context), "cuCtxSetCurrent");
                caller mine(common, counted, (seed * generations + generation) * threads + i);
                while (counted.all() < calls / generations * generation)
                    mine.call_something();
            });
    }
    unsigned const still_open = common.close_all();
    holdings const after = holdings::now();

    unsigned const untested = counted.report();
    std::fflush(stdout);
    std::cout << "before: " << before << "\nafter: " << after << std::endl;
    require_untouched(&cuda, bystander);
    free_block(&cuda, bystander);
    free_chunks(&cuda, chunks);
    for (gpu_block const& each : blocks)
        free_block(&cuda, each);
    bool const good = untested == 0 && still_open == 0 && before == after;
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - clock;
    std::printf("random_calls: %s, %llu calls in %.1f s, %u sessions not closed\n",
                good ? "ok" : "FAILED", static_cast<unsigned long long>(counted.all()),
                took.count(), still_open);
    return good ? 0 : 1;
}
