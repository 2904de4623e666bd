// SPDX-License-Identifier: MIT
// A kernel that runs all the time: the CPU sends it commands, it asks the CPU a question for some of
// them, shows how far it is, and answers. No driver call and no synchronisation in between.
//
//     nvcc -std=c++20 -o persistent_kernel persistent_kernel.cu $(pkg-config --cflags --libs barmap)
#include <barmap/barmap.hpp>
#include <barmap/gpu/counter.cuh>
#include <barmap/gpu/ring.cuh>
#include <barmap/gpu/rpc.cuh>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

struct command {
    int number;
    float value;
};
struct answer {
    int number;
    float value;
};
struct question {
    float value;
};

namespace rings = barmap::gpu;

/// 20 s: nothing on the GPU waits forever.
constexpr rings::word patience = 20'000'000'000;

__global__ void serve(rings::ring_to_gpu<command> in, rings::ring_to_cpu<answer> out,
                      rings::rpc_to_cpu<question, float> cpu, rings::counter_to_cpu progress) {
    rings::consumer<command> commands(in);
    rings::producer<answer> answers(out);
    rings::caller<question, float> ask(cpu);
    rings::word done = 0;
    command next;
    while (commands.pop(next, patience) == rings::status::ok) {
        float result = next.value * 2;
        if (next.number % 100 == 0 &&
            ask.call(question{next.value}, result, patience) != rings::status::ok)
            break;
        rings::advance(progress, ++done);
        if (answers.push(answer{next.number, result}, patience) != rings::status::ok)
            break;
    }
    answers.close();
}

void check(cudaError_t result) {
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
        std::exit(1);
    }
}

} // namespace

int main() try {
    using namespace std::chrono_literals;
    check(cudaSetDevice(0));
    check(cudaFree(nullptr)); // makes the context
    barmap::device const gpu = barmap::device::open(0);
    barmap::arena const memory(gpu, 1 << 20, 1 << 20);
    barmap::ring_to_gpu<command> commands(memory, 256);
    barmap::ring_to_cpu<answer> answers(memory, 256);
    barmap::rpc_to_cpu<question, float> calls(memory, 16);
    barmap::counter_to_cpu const progress(memory);

    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    serve<<<1, 1, 0, stream>>>(commands.handle(), answers.handle(), calls.handle(),
                                 progress.handle());
    check(cudaGetLastError());

    constexpr int count = 100'000;
    int sent = 0, received = 0, wrong = 0;
    auto const begin = std::chrono::steady_clock::now();
    while (received < count) {
        if (sent < count && commands.try_push({sent, 0.5F * sent}))
            ++sent;
        commands.flush();
        calls.try_serve([](question const& asked) { return asked.value * 3; });
        auto const got = answers.try_pop();
        if (!got) {
            if (answers.closed() || std::chrono::steady_clock::now() - begin > 30s)
                break;
            continue;
        }
        float const factor = received % 100 == 0 ? 3 : 2;
        wrong += got->number != received || got->value != 0.5F * received * factor;
        ++received;
    }
    commands.close(); // the kernel ends
    check(cudaStreamSynchronize(stream));
    auto const counted = static_cast<long long>(progress.value());
    std::printf("%d of %d commands answered, %d wrong; the kernel counted %lld\n", received, count,
                wrong, counted);
    check(cudaStreamDestroy(stream));
    return received == count && wrong == 0 && counted == count ? 0 : 1;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
