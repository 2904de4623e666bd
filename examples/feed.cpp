// SPDX-License-Identifier: MIT
// A feed handler that never starts CUDA pushes quotes to a kernel of another process, and pops its
// orders, without a driver call and without a socket in between.
//
//     barmap sim -- ./feed         # without a GPU: a thread acts as the kernel
//     nvcc -x cu -std=c++20 -o feed feed.cpp $(pkg-config --cflags --libs barmap)
#include "pass_descriptor.hpp"

#include <barmap/barmap.hpp>
#include <barmap/ring.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
namespace rings = barmap::gpu;

struct quote {
    int number;
    float price;
};
struct order {
    int number;
    float price;
};
constexpr int count = 10'000;
/// 20 s: nothing waits forever, whichever process ends.
constexpr rings::word patience = 20'000'000'000;

BARMAP_DEVICE void trade(rings::ring_to_gpu<quote> in, rings::ring_to_cpu<order> out) {
    rings::consumer<quote> quotes(in);
    rings::producer<order> orders(out);
    quote next;
    while (quotes.pop(next, patience) == rings::status::ok)
        if (orders.push({next.number, next.price * 2}, patience) != rings::status::ok)
            break;
    orders.close();
}

#ifdef __CUDACC__
__global__ void kernel(rings::ring_to_gpu<quote> in, rings::ring_to_cpu<order> out) {
    trade(in, out);
}
#endif

/// The feed handler, in a separate process. @return its exit status
int feed(int socket) try {
    int const to_gpu = receive_descriptor(socket), to_cpu = receive_descriptor(socket);
    if (to_gpu < 0 || to_cpu < 0)
        return 1; // the other process has said why
    auto quotes = barmap::ring_to_gpu<quote>::open_shared(to_gpu);
    auto orders = barmap::ring_to_cpu<order>::open_shared(to_cpu);
    close(to_gpu);
    close(to_cpu);
    int sent = 0, received = 0, wrong = 0;
    while (received < count) {
        while (sent < count && quotes.try_push({sent, 0.5F * static_cast<float>(sent)}))
            ++sent;
        quotes.flush();
        if (!orders.wait_for(10s))
            break; // the other process has ended, or is late
        while (auto const got = orders.try_pop()) {
            wrong += got->number != received || got->price != static_cast<float>(received);
            ++received;
        }
    }
    quotes.close(); // the kernel ends
    std::printf("the feed got %d orders for %d quotes, %d wrong, without CUDA\n", received, sent,
                wrong);
    std::fflush(stdout);
    return received == count && wrong == 0 ? 0 : 1;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "feed: %s\n", failure.what());
    return 1;
}

} // namespace

int main() try {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return 1;
    pid_t const handler = fork();
    if (handler == 0) {
        close(ends[0]);
        _exit(feed(ends[1]));
    }
    close(ends[1]);

    auto const gpu = barmap::device::open(0);
    // A descriptor of a ring gives access to the whole arena, so these two have a separate one, by
    // a backend that can share.
    barmap::arena const memory(gpu, 1 << 16, 1 << 16, gpu.simulated() ? "dmabuf" : "rm");
    barmap::ring_to_gpu<quote> quotes(memory, 256);
    barmap::ring_to_cpu<order> orders(memory, 256);
#ifdef __CUDACC__
    kernel<<<1, 1>>>(quotes.handle(), orders.handle());
#else
    if (!gpu.simulated()) {
        std::fprintf(stderr, "the kernel needs nvcc: see the first lines of feed.cpp\n");
        return 1;
    }
    std::jthread const kernel(trade, quotes.handle_for_thread(), orders.handle_for_thread());
#endif
    send_descriptor(ends[0], quotes.share());
    send_descriptor(ends[0], orders.share());
    int status = -1;
    waitpid(handler, &status, 0);
    quotes.close(); // if the feed could not
#ifdef __CUDACC__
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
#endif
    return status == 0 ? 0 : 1;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
