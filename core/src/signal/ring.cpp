// SPDX-License-Identifier: MIT
#include <barmap/ring.h>

#include "signal/made_signal.hpp"

#include <barmap/byte_ring.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct barmap_ring_to_gpu {
    template <class... Arguments>
    explicit barmap_ring_to_gpu(Arguments const&... arguments) : ring(arguments...) {}
    barmap::detail::byte_ring_to_gpu ring;
};

struct barmap_ring_to_cpu {
    template <class... Arguments>
    explicit barmap_ring_to_cpu(Arguments const&... arguments) : ring(arguments...) {}
    barmap::detail::byte_ring_to_cpu ring;
};

namespace {

using namespace barmap;
using c::free_handle;
using detail::opened_signal;
using detail::wait_of_ns;
using signal::made;
using signal::share;

// Kernels take C's structures as those of <barmap/gpu>.
using c_ring = barmap_ring_handle;
using cxx_ring = barmap::gpu::ring_handle;
using ring_of_type = barmap::gpu::ring_to_gpu<int>;
static_assert(sizeof(c_ring) == sizeof(cxx_ring) && sizeof(c_ring) == sizeof(ring_of_type) &&
              offsetof(c_ring, slots) == offsetof(cxx_ring, slots) &&
              offsetof(c_ring, control) == offsetof(cxx_ring, control) &&
              offsetof(c_ring, credits) == offsetof(cxx_ring, credits) &&
              offsetof(c_ring, mask) == offsetof(cxx_ring, mask) &&
              offsetof(c_ring, slots) == offsetof(ring_of_type, slots) &&
              offsetof(c_ring, control) == offsetof(ring_of_type, control) &&
              offsetof(c_ring, credits) == offsetof(ring_of_type, credits) &&
              offsetof(c_ring, mask) == offsetof(ring_of_type, mask) &&
              sizeof(barmap::gpu::ring_to_cpu<int>) == sizeof(c_ring));

template <class Ring>
void put_state(Ring const& ring, barmap_ring_state* out) noexcept {
    *out = {ring.depth(), ring.closed() ? 1u : 0u};
}

std::span<std::byte const> bytes_of(void const* data, std::size_t bytes) noexcept {
    return {static_cast<std::byte const*>(data), bytes};
}

std::span<std::byte> bytes_of(void* data, std::size_t bytes) noexcept {
    return {static_cast<std::byte*>(data), bytes};
}

/// Makes a ring, in an arena or in separate memory.
template <class Ring>
int make_ring(barmap_device* device, barmap_arena* memory, std::size_t message_bytes,
              std::size_t slots, barmap_ring_handle* handle, Ring** out) noexcept {
    static constexpr char operation[] = "make a ring";
    return made(out, handle, operation, &Ring::ring, [&] {
        if (!device == !memory)
            throw error(errc::invalid_argument, operation, "",
                        "give a device or an arena, and NULL for the other");
        return memory ? std::make_unique<Ring>(arena(barmap_arena_retain(memory)), message_bytes,
                                               slots)
                      : std::make_unique<Ring>(barmap::device(barmap_device_retain(device)),
                                               message_bytes, slots);
    });
}

template <class Ring>
int open_ring(int descriptor, barmap_signal_kind kind, std::size_t message_bytes,
              Ring** out) noexcept {
    return c::make(out, "open shared memory", [&] {
        return std::make_unique<Ring>(opened_signal::open_ring(descriptor, kind, message_bytes));
    });
}

} // namespace

int barmap_ring_to_gpu_create(barmap_device* device, barmap_arena* arena, std::size_t message_bytes,
                              std::size_t slots, barmap_ring_handle* handle,
                              barmap_ring_to_gpu** out) {
    return make_ring(device, arena, message_bytes, slots, handle, out);
}

int barmap_ring_to_gpu_share(barmap_ring_to_gpu* ring, int* descriptor) {
    return share(ring, &barmap_ring_to_gpu::ring, descriptor);
}

int barmap_ring_to_gpu_open_shared(int descriptor, std::size_t message_bytes,
                                   barmap_ring_to_gpu** out) {
    return open_ring(descriptor, BARMAP_RING_TO_GPU, message_bytes, out);
}

void barmap_ring_to_gpu_destroy(barmap_ring_to_gpu* ring) {
    free_handle(ring);
}

std::size_t barmap_ring_to_gpu_push(barmap_ring_to_gpu* ring, void const* messages,
                                    std::size_t count) {
    return ring->ring.push_many(bytes_of(messages, count * ring->ring.message_bytes()));
}

void barmap_ring_to_gpu_flush(barmap_ring_to_gpu* ring) {
    ring->ring.flush();
}

int barmap_ring_to_gpu_wait(barmap_ring_to_gpu* ring, std::uint64_t nanoseconds) {
    return ring->ring.wait_for(wait_of_ns(nanoseconds));
}

void barmap_ring_to_gpu_state(barmap_ring_to_gpu const* ring, barmap_ring_state* out) {
    put_state(ring->ring, out);
}

void barmap_ring_to_gpu_close(barmap_ring_to_gpu* ring) {
    ring->ring.close();
}

int barmap_ring_to_cpu_create(barmap_device* device, barmap_arena* arena, std::size_t message_bytes,
                              std::size_t slots, barmap_ring_handle* handle,
                              barmap_ring_to_cpu** out) {
    return make_ring(device, arena, message_bytes, slots, handle, out);
}

int barmap_ring_to_cpu_share(barmap_ring_to_cpu* ring, int* descriptor) {
    return share(ring, &barmap_ring_to_cpu::ring, descriptor);
}

int barmap_ring_to_cpu_open_shared(int descriptor, std::size_t message_bytes,
                                   barmap_ring_to_cpu** out) {
    return open_ring(descriptor, BARMAP_RING_TO_CPU, message_bytes, out);
}

void barmap_ring_to_cpu_destroy(barmap_ring_to_cpu* ring) {
    free_handle(ring);
}

std::size_t barmap_ring_to_cpu_pop(barmap_ring_to_cpu* ring, void* messages, std::size_t count) {
    return ring->ring.pop_many(bytes_of(messages, count * ring->ring.message_bytes()));
}

int barmap_ring_to_cpu_wait(barmap_ring_to_cpu const* ring, std::uint64_t nanoseconds) {
    return ring->ring.wait_for(wait_of_ns(nanoseconds));
}

void barmap_ring_to_cpu_state(barmap_ring_to_cpu const* ring, barmap_ring_state* out) {
    put_state(ring->ring, out);
}

void barmap_ring_to_cpu_close(barmap_ring_to_cpu* ring) {
    ring->ring.close();
}
