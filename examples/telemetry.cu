// SPDX-License-Identifier: MIT
// A monitor in a separate process follows a kernel that does not know of it: it reads counters in
// GPU memory while the kernel works. The monitor has no CUDA context and needs no GPU time.
//
//     nvcc -std=c++20 -o telemetry telemetry.cu $(pkg-config --cflags --libs barmap)
#include "pass_descriptor.hpp"

#include <barmap/barmap.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using clock_type = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;
using microseconds = std::chrono::duration<double, std::micro>;

struct counters {
    unsigned long long done;      // blocks that have ended
    unsigned long long subnormal; // values that were too small
};
constexpr unsigned blocks = 2'000'000, threads = 256;

/// Works for some microseconds a block, and counts in GPU memory alone.
__global__ void work(float* values, counters* count) {
    unsigned const index = blockIdx.x * blockDim.x + threadIdx.x;
    float value = static_cast<float>(index % 1000) + 0.5f;
    for (int i = 0; i < 2000; ++i)
        value = value * 0.999f + 1e-6f;
    values[index] = value;
    if (value < 0.1f)
        atomicAdd(&count->subnormal, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&count->done, 1);
}

/// The monitor, in a separate process. @return its exit status
int watch(int socket) try {
    int const descriptor = receive_descriptor(socket);
    if (descriptor < 0)
        return 1; // the other process has said why
    barmap::mapping const map = barmap::open_shared(descriptor).map();
    close(descriptor);
    char word = 'x';
    if (write(socket, &word, 1) != 1) // the job may begin
        return 1;
    counters now = {};
    int looks = 0;
    microseconds looking{};
    do {
        // Each poll is one trip over the link for both values: look some hundred times a second,
        // not in a tight loop.
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        auto const before = now;
        auto const begin = clock_type::now();
        now = barmap::read_value<counters>(map.window()); // never older than the look before
        looking += clock_type::now() - begin;
        if (now.done < before.done) {
            std::fprintf(stderr, "it went back\n");
            return 1;
        }
        ++looks;
        std::printf("%5.1f %% done, %llu values too small\n", 100.0 * now.done / blocks,
                    now.subnormal);
        // Until all is done, or the job has ended before that.
    } while (now.done < blocks && recv(socket, &word, 1, MSG_DONTWAIT) != 0);
    std::printf("%d looks of %.2f us each; %llu of %u blocks\n", looks, looking.count() / looks,
                now.done, blocks);
    std::fflush(stdout);
    return now.done == blocks ? 0 : 1;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "monitor: %s\n", failure.what());
    return 1;
}

void check(cudaError_t result) {
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(result));
        std::exit(1);
    }
}

/// @return how long the kernel took. @pre the counters are zero; they are zero again if `then_zero`
milliseconds run(float* values, counters* count, bool then_zero) {
    auto const begin = clock_type::now();
    work<<<blocks, threads>>>(values, count);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    milliseconds const taken = clock_type::now() - begin;
    if (then_zero) {
        check(cudaMemset(count, 0, sizeof *count));
        check(cudaDeviceSynchronize());
    }
    return taken;
}

} // namespace

int main() try {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return 1;
    pid_t const monitor = fork(); // before CUDA starts, which a forked child could not use
    if (monitor == 0) {
        close(ends[0]);
        _exit(watch(ends[1]));
    }
    close(ends[1]);

    float* values = nullptr;
    counters* count = nullptr;
    check(cudaMalloc(&values, sizeof(float) * blocks * threads));
    check(cudaMalloc(&count, sizeof *count));
    check(cudaMemset(count, 0, sizeof *count));
    milliseconds const first = run(values, count, true), alone = run(values, count, true);

    barmap::device const gpu = barmap::device::from_pointer(count);
    send_descriptor(ends[0], gpu.pin(count, sizeof *count, {.backend = "rm"}).share());
    char word = 0;
    if (read(ends[0], &word, 1) != 1)
        return 1; // the monitor has said why
    milliseconds const watched = run(values, count, false);
    int status = -1;
    waitpid(monitor, &status, 0);
    std::printf("the kernel took %.2f and %.2f ms alone, %.2f ms watched\n", first.count(),
                alone.count(), watched.count());
    check(cudaFree(count));
    check(cudaFree(values));
    return status == 0 ? 0 : 1;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
