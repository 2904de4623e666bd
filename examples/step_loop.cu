// SPDX-License-Identifier: MIT
// The decode loop of a language model in small: 48 inputs of 256 bytes go to the GPU before each step,
// and a token comes back after it. Plain CUDA against barmap, both in a CUDA graph, with the same
// tokens.
//
//     nvcc -std=c++20 -o step_loop step_loop.cu $(pkg-config --cflags --libs barmap)
#include <barmap/barmap.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr int tensors = 48, steps = 20'000, warm_up = 1000;
constexpr std::size_t bytes = 256, words = bytes / sizeof(std::uint32_t);

/// Stands for the model: a token that depends on every word of every input.
__global__ void model(std::uint32_t const* inputs, std::uint32_t* token) {
    __shared__ std::uint32_t sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    std::uint32_t mine = 0;
    for (unsigned i = threadIdx.x; i < tensors * words; i += blockDim.x)
        mine += inputs[i] * (i + 1);
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        *token = sum;
}

void check(cudaError_t result) {
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
        std::exit(1);
    }
}

/// Writes the inputs of a step; the token before is part of them.
void fill(std::uint32_t* input, int tensor, std::uint32_t token, int step) {
    for (std::size_t i = 0; i < words; ++i)
        input[i] = token ^ static_cast<std::uint32_t>(step * 31 + tensor * 7 + i);
}

std::uint32_t expected(std::uint32_t token, int step) {
    std::uint32_t input[words], sum = 0;
    for (int tensor = 0; tensor < tensors; ++tensor) {
        fill(input, tensor, token, step);
        for (std::size_t i = 0; i < words; ++i)
            sum += input[i] * static_cast<std::uint32_t>(tensor * words + i + 1);
    }
    return sum;
}

template <class Capture>
cudaGraphExec_t captured(cudaStream_t stream, Capture const& capture) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    capture();
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&ready, graph, 0));
    check(cudaGraphDestroy(graph));
    return ready;
}

struct times {
    std::vector<double> step;
    int wrong = 0;
    void report(char const* name) {
        std::sort(step.begin(), step.end());
        std::printf("%-44s %8.2f us a step (p99 %.2f), %d wrong\n", name, step[step.size() / 2],
                    step[step.size() * 99 / 100], wrong);
    }
};

/// @param run gets the token of a step from the token before
template <class Run>
times loop(Run const& run) {
    times result;
    std::uint32_t token = 1;
    for (int step = 0; step < steps + warm_up; ++step) {
        std::uint32_t const wanted = expected(token, step);
        auto const begin = clock_type::now();
        std::uint32_t const found = run(token, step);
        double const taken =
            std::chrono::duration<double, std::micro>(clock_type::now() - begin).count();
        if (step >= warm_up)
            result.step.push_back(taken);
        result.wrong += found != wanted;
        token = found;
    }
    return result;
}

} // namespace

int main() try {
    check(cudaSetDevice(0));
    std::uint32_t *inputs, *token, *pinned, *answer;
    check(cudaMalloc(&inputs, tensors * bytes));
    check(cudaMalloc(&token, sizeof *token));
    check(cudaMallocHost(&pinned, tensors * bytes));
    check(cudaMallocHost(&answer, sizeof *answer));
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    // Plain: a copy for each input, as frameworks make them, and a synchronisation.
    cudaGraphExec_t const plain =
        captured(stream, [&] { model<<<1, 256, 0, stream>>>(inputs, token); });
    times by_copies = loop([&](std::uint32_t before, int step) {
        for (int i = 0; i < tensors; ++i) {
            fill(pinned + i * words, i, before, step);
            check(cudaMemcpyAsync(inputs + i * words, pinned + i * words, bytes,
                                  cudaMemcpyHostToDevice, stream));
        }
        check(cudaGraphLaunch(plain, stream));
        check(cudaMemcpyAsync(answer, token, sizeof *answer, cudaMemcpyDeviceToHost, stream));
        check(cudaStreamSynchronize(stream));
        return *answer;
    });
    // The best of that: all inputs in one copy, which is part of the graph.
    cudaGraphExec_t const packed = captured(stream, [&] {
        check(cudaMemcpyAsync(inputs, pinned, tensors * bytes, cudaMemcpyHostToDevice, stream));
        model<<<1, 256, 0, stream>>>(inputs, token);
        check(cudaMemcpyAsync(answer, token, sizeof *answer, cudaMemcpyDeviceToHost, stream));
    });
    times by_one_copy = loop([&](std::uint32_t before, int step) {
        for (int i = 0; i < tensors; ++i)
            fill(pinned + i * words, i, before, step);
        check(cudaGraphLaunch(packed, stream));
        check(cudaStreamSynchronize(stream));
        return *answer;
    });

    // barmap: the graph loads what was pushed, and stores what the CPU pops.
    barmap::device const gpu = barmap::device::open(0);
    std::vector<barmap::step_tensor> where;
    for (int i = 0; i < tensors; ++i)
        where.push_back({reinterpret_cast<std::uintptr_t>(inputs + i * words), bytes});
    barmap::step_tensor const result[] = {{reinterpret_cast<std::uintptr_t>(token), sizeof *token}};
    barmap::step_inputs in(gpu, where);
    barmap::step_outputs out(gpu, result);
    barmap::arena const memory(gpu, 4096, 4096);
    barmap::counter_to_cpu done(memory);
    barmap::counter_to_gpu go(memory);
    auto const step_of = [&](cudaGraphExec_t graph, bool ahead) {
        // Launched ahead, a step waits on the GPU for its inputs.
        if (ahead)
            check(cudaGraphLaunch(graph, stream));
        return [&, graph, ahead](std::uint32_t before, int step) {
            for (int i = 0; i < tensors; ++i)
                fill(reinterpret_cast<std::uint32_t*>(in.staging(i).data()), i, before, step);
            if (!in.try_push())
                return ~std::uint32_t{0};
            if (!ahead)
                check(cudaGraphLaunch(graph, stream));
            std::uint32_t found = 0;
            if (!out.wait_for(5s) || !out.try_pop())
                return ~std::uint32_t{0};
            std::memcpy(&found, out.staging(0).data(), sizeof found);
            if (ahead && step + 1 < steps + warm_up)
                check(cudaGraphLaunch(graph, stream)); // beside the CPU's next work
            return found;
        };
    };
    cudaGraphExec_t const stepped = captured(stream, [&] {
        in.enqueue_load(stream);
        model<<<1, 256, 0, stream>>>(inputs, token);
        out.enqueue_store(stream);
    });
    times by_barmap = loop(step_of(stepped, false));
    check(cudaStreamSynchronize(stream));
    times ahead = loop(step_of(stepped, true));
    check(cudaStreamSynchronize(stream));

    // Counters around a graph: a replay starts when the CPU says so, and says when it is done.
    int late = 0;
    for (std::uint64_t i = 1; i <= 1000; ++i) {
        go.wait(stream, i);
        check(cudaGraphLaunch(plain, stream));
        done.record(stream, i);
        late += done.is_at_least(i);
        go.advance(i);
        late += !done.wait_for(i, 5s);
    }
    check(cudaStreamSynchronize(stream));

    by_copies.report("48 copies, graph, copy back, synchronise");
    by_one_copy.report("one copy in the graph, copy back, synchronise");
    by_barmap.report("push, graph, pop");
    ahead.report("the same, launched ahead");
    std::printf("1000 replays between counters: %d early or late\n", late);
    bool const good = by_copies.wrong + by_one_copy.wrong + by_barmap.wrong + ahead.wrong + late == 0;
    return good && !in.failed() && !out.failed() ? 0 : 1;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
