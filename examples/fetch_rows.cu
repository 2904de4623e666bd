// SPDX-License-Identifier: MIT
// A decode step fetches rows that a kernel has just chosen, as the top-k of a sparse attention or a
// router of experts does: from a table in pinned host memory into a cache in GPU memory. The
// choosing kernel submits them to a copy engine (barmap::kernel_queue), or a kernel loads them from
// host memory, or the CPU waits for the choice and calls CUDA. Every byte of each step is compared.
// The program also measures how much each slows a kernel on all other multiprocessors.
//
//     nvcc -std=c++20 -O2 -arch=sm_90 fetch_rows.cu $(pkg-config --cflags --libs barmap)
#include "compute_beside.cuh"
#include "measured_copies.hpp"

#include <barmap/barmap.hpp>
#include <barmap/gpu/kernel_queue.cuh>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

namespace {

namespace gpu = barmap::gpu;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

/// Each step fetches `count` rows of the table, which become contiguous in the cache.
struct step_rows {
    char const* table; ///< host memory
    char* cache;       ///< GPU memory
    unsigned row_bytes, count;
    unsigned in_table; ///< how many rows it has
};

/// Stands for the top-k or the router. The rows of a step differ from each other.
__device__ unsigned row_of(step_rows const& rows, unsigned step, unsigned i) {
    unsigned const part = rows.in_table / rows.count;
    unsigned mixed = (step * rows.count + i) * 2654435761U;
    mixed = (mixed ^ mixed >> 15) * 2246822519U;
    return i * part + (mixed ^ mixed >> 13) % part;
}

/// By one block, of which each thread sees all rows afterwards.
__device__ void choose_rows(step_rows const& rows, unsigned step, unsigned* chosen) {
    for (unsigned i = threadIdx.x; i < rows.count; i += blockDim.x)
        chosen[i] = row_of(rows, step, i);
    __syncthreads();
}
__device__ char const* chosen_row(step_rows const& rows, unsigned const* chosen, unsigned i) {
    return rows.table + std::size_t(chosen[i]) * rows.row_bytes;
}

/// One warp has the chosen rows copied, and waits for them: later kernels of the stream see them.
__global__ void choose_and_submit(gpu::kernel_queue queue, step_rows rows, unsigned step,
                                  unsigned* chosen, unsigned* wrong) {
    choose_rows(rows, step, chosen);
    if (threadIdx.x >= 32)
        return;
    gpu::warp_submitter copies(queue);
    auto const piece_of = [&](unsigned i) {
        char* const to = rows.cache + std::size_t(i) * rows.row_bytes;
        return gpu::copy_piece{reinterpret_cast<gpu::word>(to),
                               reinterpret_cast<gpu::word>(chosen_row(rows, chosen, i)),
                               rows.row_bytes};
    };
    gpu::word ticket = 0;
    gpu::status result = copies.submit(rows.count, piece_of, ticket);
    if (result == gpu::status::ok)
        result = copies.wait(ticket, 100'000'000); // ns
    if (result != gpu::status::ok && threadIdx.x == 0)
        atomicAdd(wrong, 1);
}

constexpr unsigned few_threads = 256, many_threads = 1024;

/// Loads the rows from host memory, four times 16 bytes a thread at once.
__device__ void load_rows(step_rows const& rows, unsigned const* chosen) {
    constexpr unsigned at_once = 4;
    unsigned const of_row = rows.row_bytes / sizeof(uint4), all = of_row * rows.count;
    unsigned const threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += at_once * threads) {
        uint4 const* from[at_once];
        uint4 some[at_once];
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k) {
            unsigned const at = min(i + k * threads, all - 1);
            char const* const row = chosen_row(rows, chosen, at / of_row);
            from[k] = reinterpret_cast<uint4 const*>(row) + at % of_row;
        }
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k)
            if (i + k * threads < all)
                some[k] = *from[k];
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k)
            if (i + k * threads < all)
                reinterpret_cast<uint4*>(rows.cache)[i + k * threads] = some[k];
    }
}
__global__ void __launch_bounds__(many_threads)
    choose_and_load(step_rows rows, unsigned step, unsigned* chosen) {
    choose_rows(rows, step, chosen);
    load_rows(rows, chosen);
}
__global__ void __launch_bounds__(many_threads) load(step_rows rows, unsigned const* chosen) {
    load_rows(rows, chosen);
}

/// @param ready NULL, or becomes the step once the choice is in memory
__global__ void choose(step_rows rows, unsigned step, unsigned* chosen, gpu::word* ready) {
    choose_rows(rows, step, chosen);
    if (ready != nullptr && threadIdx.x == 0)
        gpu::store_release(ready, step);
}

/// The CPU waits for the choice, and calls CUDA once for each row, or once for all.
struct by_cpu {
    step_rows rows;
    cudaStream_t stream;
    unsigned* chosen; ///< host memory, as `ready`
    gpu::word* ready;
    bool polls, in_one_call;

    void operator()(unsigned step) const {
        choose<<<1, few_threads, 0, stream>>>(rows, step, chosen, ready);
        check(cudaGetLastError());
        if (!polls)
            check(cudaStreamSynchronize(stream));
        auto const until = clock_type::now() + 5s;
        while (std::atomic_ref(*ready).load(std::memory_order_acquire) != step)
            if (clock_type::now() > until)
                fail("the choice of a step did not come");
        std::vector<void*> to(rows.count), from(rows.count);
        for (unsigned i = 0; i < rows.count; ++i) {
            to[i] = rows.cache + std::size_t(i) * rows.row_bytes;
            from[i] = const_cast<char*>(rows.table) + std::size_t(chosen[i]) * rows.row_bytes;
            if (!in_one_call)
                check(cudaMemcpyAsync(to[i], from[i], rows.row_bytes, cudaMemcpyHostToDevice,
                                      stream));
        }
        if (in_one_call)
            copy_in_one_call(to, from, rows.row_bytes, stream);
    }
};

__device__ unsigned word_of_table(unsigned index) {
    return (index + 1) * 2654435761U;
}
__global__ void fill(unsigned* table, unsigned words) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
        table[i] = word_of_table(i);
}

/// Stands for what needs the rows: looks at each word of the cache, and counts the wrong ones.
__global__ void use(step_rows rows, unsigned step, unsigned* wrong) {
    unsigned const of_row = rows.row_bytes / sizeof(unsigned), all = of_row * rows.count;
    unsigned mine = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += gridDim.x * blockDim.x)
        mine += reinterpret_cast<unsigned const*>(rows.cache)[i] !=
                word_of_table(row_of(rows, step, i / of_row) * of_row + i % of_row);
    if (mine != 0)
        atomicAdd(wrong, mine);
}

struct method {
    char const* name;
    unsigned blocks;                          ///< multiprocessors that it uses
    unsigned* wrong;                          ///< GPU memory: counts wrong words
    std::function<void(unsigned step)> fetch; ///< enqueues the choice of rows, and their copies
    figures us = {};
    std::array<figures, 2> there = {}, of_all = {}; ///< of arithmetic, of reads
};

} // namespace

int main() try {
    barmap::device const device = barmap::device::open(0);
    barmap::kernel_queue const queue(device); // throws, with the reason, where there are none
    gpu::kernel_queue const handle = queue.handle();
    check(cudaSetDevice(0));
    int all;
    check(cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, 0));

    constexpr unsigned table_bytes = 1U << 30, many_blocks = 32;
    constexpr int runs = 5, steps = 100;
    auto* const table = pinned_host_memory<char>(table_bytes);
    auto* const cache = gpu_memory<char>(4 << 20);
    auto* const chosen = gpu_memory<unsigned>(1024);
    auto* const chosen_on_cpu = pinned_host_memory<unsigned>(1024);
    auto* const ready = pinned_host_memory<gpu::word>(1);
    auto* const wrong = gpu_memory<unsigned>(2); // the second one: where nothing is fetched
    fill<<<all, many_threads>>>(reinterpret_cast<unsigned*>(table), table_bytes / 4);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    compute_beside model;

    std::puts("us, GB/s: of a step, which chooses rows, fetches them, and compares each byte.\n"
              "there, GPU: how many times as long a kernel takes on all multiprocessors that are "
              "left,\nas alone on that many, and as alone on the whole GPU.");
    unsigned step = 0;
    constexpr std::pair<unsigned, unsigned> shapes[] = {{656, 256},   {656, 1024}, {4096, 256},
                                                        {4096, 1024}, {65536, 16}, {65536, 64}};
    for (auto const& [row_bytes, count] : shapes) {
        step_rows const rows = {table, cache, row_bytes, count, table_bytes / row_bytes};
        auto const cpu = [&](bool polls, bool in_one_call) {
            return by_cpu{rows, stream, chosen_on_cpu, ready, polls, in_one_call};
        };
        auto const choose_only = [&](unsigned now) {
            choose<<<1, few_threads, 0, stream>>>(rows, now, chosen, nullptr);
        };
        auto const submit = [&](unsigned now) {
            choose_and_submit<<<1, few_threads, 0, stream>>>(handle, rows, now, chosen, wrong);
        };
        auto const load_on_one = [&](unsigned now) {
            choose_and_load<<<1, many_threads, 0, stream>>>(rows, now, chosen);
        };
        auto const load_on_many = [&](unsigned now) {
            choose_only(now);
            load<<<many_blocks, many_threads, 0, stream>>>(rows, chosen);
        };
        std::vector<method> methods = {
            {"nothing is fetched", 1, wrong + 1, choose_only},
            {"kernel_queue", 1, wrong, submit},
            {"kernel on 1 multiprocessor", 1, wrong, load_on_one},
            {"kernel on 32 multiprocessors", many_blocks, wrong, load_on_many},
            {"CPU synchronises, a call a row", 1, wrong, cpu(false, false)},
            {"CPU polls, a call a row", 1, wrong, cpu(true, false)}};
        if (has_batches)
            methods.push_back({"CPU polls, cudaMemcpyBatchAsync", 1, wrong, cpu(true, true)});

        auto const use_rows = [&](method const& of) {
            use<<<all, many_threads, 0, stream>>>(rows, step, of.wrong);
            check(cudaGetLastError());
        };
        auto const us_of_step = [&](method const& of, int number) {
            auto const begin = clock_type::now();
            for (int i = 0; i < number; ++i) {
                of.fetch(++step);
                use_rows(of);
            }
            check(cudaStreamSynchronize(stream));
            std::chrono::duration<double, std::micro> const passed = clock_type::now() - begin;
            return passed.count() / number;
        };
        auto const expect_right = [&] {
            queue.check();
            unsigned number;
            check(cudaMemcpy(&number, wrong, sizeof number, cudaMemcpyDeviceToHost));
            if (number != 0)
                fail("rows are wrong, or were not submitted");
        };
        for (method const& each : methods) { // so that CUDA has loaded all kernels
            us_of_step(each, 10);
            expect_right();
        }
        for (int run = 0; run < runs; ++run) {
            for (std::size_t i = 0; i < methods.size(); ++i) {
                method& next = methods[(i + run) % methods.size()];
                next.us.of_runs.push_back(us_of_step(next, steps));
            }
            for (bool const reads : {false, true}) {
                auto const alone = [&](unsigned blocks) {
                    return model.milliseconds(blocks, reads, [] {});
                };
                double const on_all = alone(all), but_one = alone(all - 1),
                             but_many = alone(all - many_blocks);
                for (method& each : methods) {
                    double const beside =
                        model.milliseconds(all - each.blocks, reads, [&] { each.fetch(++step); });
                    use_rows(each); // the last rows
                    check(cudaStreamSynchronize(stream));
                    each.there[reads].of_runs.push_back(beside /
                                                        (each.blocks == 1 ? but_one : but_many));
                    each.of_all[reads].of_runs.push_back(beside / on_all);
                }
            }
            expect_right();
        }
        std::printf("\n%4u rows of %5u B %54s%14s\n", count, row_bytes, "arithmetic", "reads");
        std::printf("%40s %7s %6s %5s %6s %6s %6s %6s\n", "us", "spread", "GB/s", "left", "there",
                    "GPU", "there", "GPU");
        for (method const& each : methods) {
            double const us = each.us.median();
            bool const fetches = each.wrong == wrong;
            std::printf("%-32s%8.1f %6.1f%% %6.1f %5u %6.2f %6.2f %6.2f %6.2f\n", each.name, us,
                        each.us.spread(), fetches ? 1e-3 * row_bytes * count / us : 0,
                        all - each.blocks, each.there[0].median(), each.of_all[0].median(),
                        each.there[1].median(), each.of_all[1].median());
        }
    }
    return 0;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
