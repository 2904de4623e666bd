// SPDX-License-Identifier: MIT
// How long a message of 56 bytes takes from one process to a persistent kernel of another one, in
// three ways: by a ring that the two share; by CUDA IPC, where the first copies it into the
// kernel's memory; and by a socket to the kernel's process, which copies it. The kernel answers in
// the same way each time, by a store to host memory that both map, so that the times compare: from
// the push, copy or send until the answer is seen.
//
//     nvcc -std=c++20 -O2 -I ../examples feed_ways.cu $(pkg-config --cflags --libs barmap)
#include "pass_descriptor.hpp"

#include <barmap/barmap.hpp>
#include <barmap/ring.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
namespace rings = barmap::gpu;

struct quote {
    unsigned long long words[7]; // each holds the quote's number
};
constexpr unsigned long long count = 20'000, warm_up = 1000;

__device__ void answer(volatile unsigned long long* to, quote const& got,
                       unsigned long long number) {
    for (auto const word : got.words)
        if (word != number)
            number = ~0ull; // wrong
    *to = number;
}

__global__ void serve_ring(rings::ring_to_gpu<quote> in, volatile unsigned long long* to) {
    rings::consumer<quote> quotes(in);
    quote next;
    for (unsigned long long k = 1; k <= count; ++k) {
        if (quotes.pop(next, 20'000'000'000) != rings::status::ok)
            return;
        answer(to, next, k);
    }
}

/// Spins on a place in GPU memory to which quotes are copied.
__global__ void serve_place(quote volatile* place, volatile unsigned long long* to) {
    for (unsigned long long k = 1; k <= count; ++k) {
        quote next;
        bool is_whole;
        do {
            is_whole = true;
            for (int i = 6; i >= 0; --i) {
                next.words[i] = place->words[i];
                is_whole = is_whole && next.words[i] == k;
            }
        } while (!is_whole);
        answer(to, next, k);
    }
}

void check(cudaError_t result) {
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
        std::exit(1);
    }
}

/// Sends each quote when the one before is answered. @param begin of what the first one needed
bool measure(char const* way, std::atomic<unsigned long long> const& answered,
             std::function<void(quote const&)> const& send, clock_type::time_point begin) {
    std::vector<double> taken;
    for (unsigned long long k = 1; k <= count; ++k) {
        quote next;
        std::ranges::fill(next.words, k);
        auto const sent = clock_type::now();
        send(next);
        unsigned long long seen;
        do {
            seen = answered.load(std::memory_order_acquire);
            if (clock_type::now() - sent > std::chrono::seconds(20))
                seen = ~0ull;
        } while (seen == k - 1);
        if (seen != k) {
            std::fprintf(stderr, "%s: quote %llu was answered by %llu\n", way, k, seen);
            return false;
        }
        auto const now = clock_type::now();
        if (k == 1)
            std::printf("%s,first_ms,%.2f\n", way,
                        std::chrono::duration<double, std::milli>(now - begin).count());
        if (k > warm_up)
            taken.push_back(std::chrono::duration<double, std::micro>(now - sent).count());
    }
    std::ranges::sort(taken);
    auto const at = [&](double part) {
        return taken[static_cast<std::size_t>(static_cast<double>(taken.size() - 1) * part)];
    };
    std::printf("%s,p50_us,%.2f\n%s,p99_us,%.2f\n%s,max_us,%.2f\n", way, at(0.5), way, at(0.99),
                way, at(1));
    std::fflush(stdout);
    return true;
}

struct shared_words {
    std::atomic<unsigned long long> answered;
};

void tell(int socket) {
    if (write(socket, "x", 1) != 1)
        std::exit(1);
}

void await(int socket) {
    char word;
    if (read(socket, &word, 1) != 1)
        std::exit(1); // the other process has said why
}

/// The process that sends; it starts CUDA for CUDA IPC alone, at its end.
int feed(int socket, int quotes, shared_words& words) {
    await(socket);
    auto begin = clock_type::now();
    int const descriptor = receive_descriptor(socket);
    auto ring = barmap::ring_to_gpu<quote>::open_shared(descriptor);
    bool good = measure("barmap", words.answered, [&](quote const& next) {
        if (!ring.try_push(next))
            std::exit(1);
        ring.flush();
    }, begin);
    tell(socket);

    await(socket);
    begin = clock_type::now();
    good = good && measure("socket", words.answered, [&](quote const& next) {
        if (write(quotes, &next, sizeof next) != sizeof next)
            std::exit(1);
    }, begin);
    tell(socket);

    await(socket);
    cudaIpcMemHandle_t handle;
    if (read(socket, &handle, sizeof handle) != sizeof handle)
        return 1;
    begin = clock_type::now();
    void* place = nullptr;
    check(cudaIpcOpenMemHandle(&place, handle, cudaIpcMemLazyEnablePeerAccess));
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    quote* staged = nullptr;
    check(cudaMallocHost(&staged, sizeof *staged));
    good = good && measure("cuda_ipc", words.answered, [&](quote const& next) {
        *staged = next;
        check(cudaMemcpyAsync(place, staged, sizeof next, cudaMemcpyHostToDevice, stream));
    }, begin);
    check(cudaStreamSynchronize(stream));
    tell(socket);
    return good ? 0 : 1;
}

/// The process that computes.
void serve(int socket, int quotes, shared_words& words) {
    check(cudaHostRegister(&words, sizeof words, cudaHostRegisterMapped));
    void* answers = nullptr;
    check(cudaHostGetDevicePointer(&answers, &words, 0));
    auto* const to = static_cast<unsigned long long*>(answers);

    auto const gpu = barmap::device::open(0);
    barmap::arena const memory(gpu, 1 << 16, 1 << 16, "rm");
    barmap::ring_to_gpu<quote> ring(memory, 256);
    serve_ring<<<1, 1>>>(ring.handle(), to);
    check(cudaGetLastError());
    int const descriptor = ring.share();
    tell(socket);
    send_descriptor(socket, descriptor);
    await(socket);
    check(cudaDeviceSynchronize());

    quote *place = nullptr, *staged = nullptr;
    check(cudaMalloc(&place, sizeof *place));
    check(cudaMallocHost(&staged, sizeof *staged));
    cudaStream_t copies, kernels;
    check(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
    auto const start = [&] {
        words.answered = 0;
        check(cudaMemset(place, 0, sizeof *place));
        check(cudaDeviceSynchronize());
        serve_place<<<1, 1, 0, kernels>>>(place, to);
        check(cudaGetLastError());
    };
    start();
    tell(socket);
    for (unsigned long long k = 0; k < count; ++k) {
        quote next;
        if (read(quotes, &next, sizeof next) != sizeof next)
            std::exit(1);
        *staged = next; // its copy has ended: the one before is answered
        check(cudaMemcpyAsync(place, staged, sizeof next, cudaMemcpyHostToDevice, copies));
    }
    await(socket);
    check(cudaDeviceSynchronize());

    start();
    cudaIpcMemHandle_t handle;
    check(cudaIpcGetMemHandle(&handle, place));
    tell(socket);
    if (write(socket, &handle, sizeof handle) != sizeof handle)
        std::exit(1);
    await(socket);
    check(cudaDeviceSynchronize());
}

} // namespace

int main() try {
    int ends[2], quotes[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, quotes) != 0)
        return 1;
    void* const shared =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    auto& words = *new (shared) shared_words{};
    std::puts("way,what,value");
    std::fflush(stdout);
    pid_t const feeder = fork(); // before CUDA starts
    if (feeder == 0) {
        close(ends[0]);
        close(quotes[0]);
        _exit(feed(ends[1], quotes[1], words));
    }
    close(ends[1]);
    close(quotes[1]);
    serve(ends[0], quotes[0], words);
    int status = -1;
    waitpid(feeder, &status, 0);
    return status == 0 ? 0 : 1;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
