// SPDX-License-Identifier: MIT
// The GPU's side of a ring of messages of one dtype, for a thread that stands for a kernel.
// message.hpp is what barmap.device_struct() wrote.
#include "message.hpp"

#include <barmap/gpu/ring.cuh>

#include <cstddef>

namespace gpu = barmap::gpu;

namespace {

template <class Ring>
Ring ring_of(unsigned long long const* words) {
    auto const at = [words](int i) { return reinterpret_cast<gpu::word*>(words[i]); };
    return Ring{at(0), at(1), at(2), words[3]};
}
gpu::ring_to_gpu<message> to_gpu(unsigned long long const* words) {
    return ring_of<gpu::ring_to_gpu<message>>(words);
}
gpu::ring_to_cpu<message> to_cpu(unsigned long long const* words) {
    return ring_of<gpu::ring_to_cpu<message>>(words);
}

} // namespace

extern "C" {

std::size_t message_bytes() {
    return sizeof(message);
}

int pop(unsigned long long const* ring, message* value) {
    gpu::consumer<message> from(to_gpu(ring));
    return static_cast<int>(from.pop(*value));
}

int push(unsigned long long const* ring, message const* value) {
    gpu::producer<message> to(to_cpu(ring));
    return static_cast<int>(to.push(*value));
}

void close_consumer(unsigned long long const* ring) {
    gpu::consumer<message>(to_gpu(ring)).close();
}

void close_producer(unsigned long long const* ring) {
    gpu::producer<message>(to_cpu(ring)).close();
}

/// Sends back what comes until the ring is closed, or nothing comes for so many nanoseconds.
int echo(unsigned long long const* in, unsigned long long const* out, unsigned long long nanoseconds) {
    gpu::consumer<message> from(to_gpu(in));
    gpu::producer<message> to(to_cpu(out));
    message value;
    gpu::status got = gpu::status::ok;
    while ((got = from.pop(value, nanoseconds)) == gpu::status::ok &&
           (got = to.push(value, nanoseconds)) == gpu::status::ok) {
    }
    to.close();
    return static_cast<int>(got);
}
}
