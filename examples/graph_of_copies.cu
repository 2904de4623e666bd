// SPDX-License-Identifier: MIT
// A CUDA graph copies pages whose addresses differ at each replay. A kernel of the graph looks them
// up in a page table, and barmap::kernel_queue::enqueue, a node of the graph, copies them: the CPU
// only launches the graph. Beside it a graph with a copy node for each page, whose addresses the
// CPU sets before each launch, and cudaMemcpyBatchAsync without a graph. Every byte is compared.
//
//     nvcc -std=c++20 -O2 -arch=sm_90 graph_of_copies.cu $(pkg-config --cflags --libs barmap)
#include "measured_copies.hpp"

#include <barmap/barmap.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t page_bytes = 4096;
constexpr unsigned pages = 32'768; ///< of each pool

/// Where a page lies, and where it goes: numbers of pages in the two pools.
struct entry {
    unsigned from, to;
};

/// A graph copies, at each replay, the next `count` entries of the page table.
struct job {
    char const* name;
    char const* from;
    char* to;
    cudaMemcpyKind kind;
    unsigned count;
    entry const *table, *table_on_gpu;

    __host__ __device__ static unsigned index(unsigned replay, unsigned count, unsigned i) {
        return (replay * count + i) % pages;
    }
    [[nodiscard]] entry page(unsigned replay, unsigned i) const {
        return table[index(replay, count, i)];
    }
    [[nodiscard]] char const* page_from(unsigned replay, unsigned i) const {
        return from + page(replay, i).from * page_bytes;
    }
    [[nodiscard]] char* page_to(unsigned replay, unsigned i) const {
        return to + page(replay, i).to * page_bytes;
    }
};

/// Looks up the pages of a replay, whose number is `replay`, and counts it. Of one block.
__global__ void look_up(job what, unsigned* replay, barmap::copy_piece* list,
                        std::uint64_t* length) {
    for (unsigned i = threadIdx.x; i < what.count; i += blockDim.x) {
        entry const page = what.table_on_gpu[job::index(*replay, what.count, i)];
        list[i] = {reinterpret_cast<std::uintptr_t>(what.to + page.to * page_bytes),
                   reinterpret_cast<std::uintptr_t>(what.from + page.from * page_bytes),
                   page_bytes};
    }
    __syncthreads(); // all have read the number
    if (threadIdx.x == 0) {
        *length = what.count;
        ++*replay;
    }
}

/// A way to copy the pages of each replay.
struct method {
    explicit method(char const* its_name) : name(its_name) {}
    method(method const&) = delete;
    method& operator=(method const&) = delete;
    virtual ~method() = default;
    /// All that the CPU does. @param replay 0, 1, 2 and so on
    virtual void start(unsigned replay) = 0;

    char const* name;
    unsigned replay = 0; ///< the next one
    figures us = {}, cpu_us = {};
};

/// A graph of the look-up and of the copies of what it finds.
class by_kernel_queue final : public method {
public:
    by_kernel_queue(barmap::kernel_queue const& queue, job const& what, cudaStream_t stream)
        : method("graph with kernel_queue"), stream_(stream),
          list_(gpu_memory<barmap::copy_piece>(what.count)) {
        cudaGraph_t graph;
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        look_up<<<1, 1024, 0, stream>>>(what, replay_, list_, length_);
        check(cudaGetLastError());
        queue.enqueue(list_, length_, what.count, 1s, stream);
        check(cudaStreamEndCapture(stream, &graph));
        check(cudaGraphInstantiate(&ready_, graph, 0));
        check(cudaGraphDestroy(graph));
    }
    ~by_kernel_queue() override { // before the queue
        check(cudaGraphExecDestroy(ready_));
        check(cudaFree(list_));
        check(cudaFree(length_));
        check(cudaFree(replay_));
    }
    void start(unsigned) override { check(cudaGraphLaunch(ready_, stream_)); }

private:
    cudaStream_t stream_;
    barmap::copy_piece* list_;
    std::uint64_t* length_ = gpu_memory<std::uint64_t>(1);
    unsigned* replay_ = gpu_memory<unsigned>(1);
    cudaGraphExec_t ready_;
};

/// A graph with a node for each page, which the CPU looks up.
class by_nodes final : public method {
public:
    by_nodes(job const& what, cudaStream_t stream)
        : method("graph with a node a page"), what_(what), stream_(stream), nodes_(what.count) {
        check(cudaGraphCreate(&graph_, 0));
        for (unsigned i = 0; i < what.count; ++i)
            check(cudaGraphAddMemcpyNode1D(&nodes_[i], graph_, nullptr, 0, what.page_to(0, i),
                                           what.page_from(0, i), page_bytes, what.kind));
        check(cudaGraphInstantiate(&ready_, graph_, 0));
    }
    ~by_nodes() override {
        check(cudaGraphExecDestroy(ready_));
        check(cudaGraphDestroy(graph_));
    }
    void start(unsigned replay) override {
        for (unsigned i = 0; i < what_.count; ++i)
            check(cudaGraphExecMemcpyNodeSetParams1D(ready_, nodes_[i], what_.page_to(replay, i),
                                                     what_.page_from(replay, i), page_bytes,
                                                     what_.kind));
        check(cudaGraphLaunch(ready_, stream_));
    }

private:
    job what_;
    cudaStream_t stream_;
    std::vector<cudaGraphNode_t> nodes_;
    cudaGraph_t graph_;
    cudaGraphExec_t ready_;
};

/// One call for all pages, which the CPU looks up.
class by_batch final : public method {
public:
    by_batch(job const& what, cudaStream_t stream)
        : method("cudaMemcpyBatchAsync"), what_(what), stream_(stream), to_(what.count),
          from_(what.count) {}
    void start(unsigned replay) override {
        for (unsigned i = 0; i < what_.count; ++i) {
            to_[i] = what_.page_to(replay, i);
            from_[i] = const_cast<char*>(what_.page_from(replay, i));
        }
        copy_in_one_call(to_, from_, page_bytes, stream_);
    }

private:
    job what_;
    cudaStream_t stream_;
    std::vector<void*> to_, from_;
};

void measure(method& by, cudaStream_t stream) {
    constexpr int replays = 50, warm_up = 5;
    std::chrono::duration<double, std::micro> all{}, of_cpu{};
    for (int i = -warm_up; i < replays; ++i) {
        auto const begin = clock_type::now();
        by.start(by.replay++);
        auto const started = clock_type::now();
        check(cudaStreamSynchronize(stream));
        if (i >= 0) {
            all += clock_type::now() - begin;
            of_cpu += started - begin;
        }
    }
    by.us.of_runs.push_back(all.count() / replays);
    by.cpu_us.of_runs.push_back(of_cpu.count() / replays);
}

/// Compares every byte of the pool after one more replay.
/// @param source what the other pool contains; @param seen room for a pool of the GPU
void expect_right(method& by, job const& what, barmap::kernel_queue const& queue,
                  cudaStream_t stream, char const* source, char* seen) {
    std::vector<char> const untouched(page_bytes, '?');
    std::vector<char const*> wanted(pages, untouched.data());
    for (unsigned i = 0; i < what.count; ++i) {
        entry const page = what.page(by.replay, i);
        wanted[page.to] = source + page.from * page_bytes;
    }
    bool const is_on_gpu = what.kind != cudaMemcpyDeviceToHost;
    if (is_on_gpu)
        check(cudaMemset(what.to, '?', pages * page_bytes));
    else
        std::memset(what.to, '?', pages * page_bytes);
    check(cudaDeviceSynchronize());
    by.start(by.replay++);
    check(cudaStreamSynchronize(stream));
    queue.check();
    if (is_on_gpu)
        check(cudaMemcpy(seen, what.to, pages * page_bytes, cudaMemcpyDeviceToHost));
    char const* const found = is_on_gpu ? seen : what.to;
    for (unsigned i = 0; i < pages; ++i)
        if (std::memcmp(found + i * page_bytes, wanted[i], page_bytes) != 0) {
            std::fprintf(stderr, "%s: page %u is wrong in replay %u\n", by.name, i, by.replay - 1);
            std::exit(1);
        }
}

/// Each page in a random place, from where it goes to another one.
std::vector<entry> page_table() {
    std::vector<unsigned> from(pages), to(pages);
    std::iota(from.begin(), from.end(), 0U);
    std::iota(to.begin(), to.end(), 0U);
    std::mt19937 random(1);
    std::shuffle(from.begin(), from.end(), random);
    std::shuffle(to.begin(), to.end(), random);
    std::vector<entry> result;
    for (unsigned i = 0; i < pages; ++i)
        result.push_back({from[i], to[i]});
    return result;
}

} // namespace

int main() try {
    barmap::device const device = barmap::device::open(0);
    barmap::kernel_queue const queue(device); // throws, with the reason, where there are none
    check(cudaSetDevice(0));
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    auto* const host_from = pinned_host_memory<char>(pages * page_bytes);
    auto* const host_to = pinned_host_memory<char>(pages * page_bytes);
    auto* const gpu_from = gpu_memory<char>(pages * page_bytes);
    auto* const gpu_to = gpu_memory<char>(pages * page_bytes);
    for (unsigned i = 0; i < pages * page_bytes / sizeof i; ++i)
        reinterpret_cast<unsigned*>(host_from)[i] = i * 2654435761U;
    check(cudaMemcpy(gpu_from, host_from, pages * page_bytes, cudaMemcpyHostToDevice));
    std::vector<entry> const table = page_table();
    auto* const table_on_gpu = gpu_memory<entry>(pages);
    check(cudaMemcpy(table_on_gpu, table.data(), pages * sizeof(entry), cudaMemcpyHostToDevice));

    std::puts("us, GB/s: of a replay, from the CPU's first call until the pages have been copied;\n"
              "CPU: the us until its last call has returned. Medians of five runs.");
    auto const compare = [&](job const& what) {
        std::vector<std::unique_ptr<method>> methods;
        methods.push_back(std::make_unique<by_kernel_queue>(queue, what, stream));
        methods.push_back(std::make_unique<by_nodes>(what, stream));
        if (has_batches)
            methods.push_back(std::make_unique<by_batch>(what, stream));
        for (std::size_t run = 0; run < 5; ++run)
            for (std::size_t i = 0; i < methods.size(); ++i) {
                method& next = *methods[(i + run) % methods.size()];
                expect_right(next, what, queue, stream, host_from, host_to);
                measure(next, stream);
                expect_right(next, what, queue, stream, host_from, host_to);
            }
        std::printf("\n%4u pages of 4 KiB %-14s%8s %7s %6s %8s\n", what.count, what.name, "us",
                    "spread", "GB/s", "CPU");
        for (auto const& each : methods) {
            double const us = each->us.median(), bytes = page_bytes * what.count;
            std::printf("%-32s %8.1f %6.1f%% %6.1f %8.1f\n", each->name, us, each->us.spread(),
                        1e-3 * bytes / us, each->cpu_us.median());
        }
    };
    entry const* const on_cpu = table.data();
    for (unsigned const count : {64U, 1024U}) {
        compare({"to the host", gpu_from, host_to, cudaMemcpyDeviceToHost, count, on_cpu,
                 table_on_gpu});
        compare(
            {"from it", host_from, gpu_to, cudaMemcpyHostToDevice, count, on_cpu, table_on_gpu});
        compare({"inside the GPU", gpu_from, gpu_to, cudaMemcpyDeviceToDevice, count, on_cpu,
                 table_on_gpu});
    }
    return 0;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
