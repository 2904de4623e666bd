// SPDX-License-Identifier: MIT
// A worker that never starts CUDA fills memory of the process that computes: a feed handler, a data
// loader, or, the other way round, a monitor.
//
//     barmap sim -- ./share        # without a GPU
#include "pass_descriptor.hpp"

#include <barmap/barmap.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using batch = std::array<std::uint32_t, 1024>;

/// The worker, in a separate process.
int work(int socket) try {
    int const descriptor = receive_descriptor(socket);
    if (descriptor < 0)
        return 1; // the other process has said why
    barmap::mapping const map = barmap::open_shared(descriptor).map();
    close(descriptor);
    batch next;
    std::iota(next.begin(), next.end(), 1u);
    barmap::write(map.window(), std::as_bytes(std::span(next)));
    return write(socket, "x", 1) == 1 ? 0 : 1; // it is there
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "worker: %s\n", failure.what());
    return 1;
}

} // namespace

int main() try {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return 1;
    pid_t const worker = fork();
    if (worker == 0) {
        close(ends[0]);
        _exit(work(ends[1]));
    }
    close(ends[1]);

    auto const gpu = barmap::device::open(0);
    // A backend that can share. Or gpu.pin(pointer, bytes, {.backend = ...}) of memory that a model
    // reads.
    auto const pin = gpu.allocate(sizeof(batch), gpu.simulated() ? "dmabuf" : "rm");
    send_descriptor(ends[0], pin.share());
    char there = 0;
    bool const has_come = read(ends[0], &there, 1) == 1;
    int status = -1;
    waitpid(worker, &status, 0);
    if (!has_come || status != 0)
        return 1;
    barmap::mapping const map = pin.map();
    auto const seen = barmap::read_value<batch>(map.window());
    bool const right = seen.front() == 1 && seen.back() == seen.size();
    std::printf("the worker wrote 1 to %u, without CUDA: %s\n", static_cast<unsigned>(seen.size()),
                right ? "right" : "wrong");
    return right ? 0 : 1;
} catch (barmap::error const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
