// SPDX-License-Identifier: MIT
#include <barmap/byte_ring.hpp>
#include <barmap/counter.h>
#include <barmap/counter.hpp>
#include <barmap/ring.h>
#include <barmap/waits.hpp>

#include "c/c_boundary.hpp"

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

struct barmap_arena {
    barmap::arena arena;
};

struct barmap_ring_to_gpu {
    barmap::detail::byte_ring_to_gpu ring;
};

struct barmap_ring_to_cpu {
    barmap::detail::byte_ring_to_cpu ring;
};

struct barmap_counter_to_gpu {
    barmap::counter_to_gpu counter;
};

struct barmap_counter_to_cpu {
    barmap::counter_to_cpu counter;
};

namespace {

using barmap::errc;
using barmap::error;
using barmap::c::attempt;
using barmap::c::expect;
using barmap::c::free_handle;
using barmap::c::make;
using barmap::detail::opened_signal;
using barmap::detail::signal_kind;
using barmap::detail::wait_of_ns;

// Kernels take C's structures as those of <barmap/gpu>.
using c_ring = barmap_ring_handle;
using c_counter = barmap_counter_to_cpu_handle;
using ring = barmap::gpu::ring_handle;
using counter = barmap::gpu::counter_to_cpu;
using ring_of_type = barmap::gpu::ring_to_gpu<int>;
static_assert(sizeof(c_ring) == sizeof(ring) && sizeof(c_ring) == sizeof(ring_of_type) &&
              offsetof(c_ring, slots) == offsetof(ring, slots) &&
              offsetof(c_ring, control) == offsetof(ring, control) &&
              offsetof(c_ring, credits) == offsetof(ring, credits) &&
              offsetof(c_ring, mask) == offsetof(ring, mask) &&
              offsetof(c_ring, slots) == offsetof(ring_of_type, slots) &&
              offsetof(c_ring, control) == offsetof(ring_of_type, control) &&
              offsetof(c_ring, credits) == offsetof(ring_of_type, credits) &&
              offsetof(c_ring, mask) == offsetof(ring_of_type, mask) &&
              sizeof(barmap::gpu::ring_to_cpu<int>) == sizeof(c_ring));
static_assert(sizeof(c_counter) == sizeof(counter) &&
              offsetof(c_counter, value) == offsetof(counter, value) &&
              offsetof(c_counter, arrived) == offsetof(counter, arrived) &&
              offsetof(c_counter, first) == offsetof(counter, first));
static_assert(sizeof(barmap_counter_to_gpu_handle) == sizeof(barmap::gpu::counter_to_gpu));

/// Makes something, and fills in what kernels take of it, as C has that.
/// @param what the member that has it
template <class Out, class Handle, class Member, class Make>
int make_with(Out** out, Handle* handle, char const* operation, Member what, Make body) noexcept {
    int const result = make(out, operation, body);
    if (result == BARMAP_OK && handle)
        *handle = std::bit_cast<Handle>(((*out)->*what).handle());
    return result;
}

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

template <class Counter, class Handle>
int make_counter(barmap_arena* memory, std::uint64_t first, Handle* handle, Counter** out) noexcept {
    static constexpr char operation[] = "make a counter";
    return make_with(out, handle, operation, &Counter::counter, [&] {
        barmap::arena const& from = expect(memory, operation, "make an arena first").arena;
        return Counter{decltype(Counter::counter)(from, first)};
    });
}

/// Makes a ring, in an arena or in separate memory.
template <class Ring>
int make_ring(barmap_device* device, barmap_arena* memory, std::size_t message_bytes,
              std::size_t slots, barmap_ring_handle* handle, Ring** out) noexcept {
    static constexpr char operation[] = "make a ring";
    return make_with(out, handle, operation, &Ring::ring, [&] {
        if (!device == !memory)
            throw error(errc::invalid_argument, operation, "",
                        "give a device or an arena, and NULL for the other");
        return memory ? Ring{{memory->arena, message_bytes, slots}}
                      : Ring{{device->device, message_bytes, slots}};
    });
}

/// Makes a descriptor of a ring or a counter.
/// @param what the member that has it
template <class Handle, class Member>
int share(Handle* handle, Member what, int* descriptor) noexcept {
    static constexpr char operation[] = "share a ring or a counter with another process";
    return attempt([&] {
        expect(descriptor, operation, "pass a pointer for the descriptor, not NULL") = -1;
        *descriptor = (expect(handle, operation, "create one first, not NULL").*what).share();
    });
}

constexpr char open_it[] = "open shared memory";

template <class Ring>
int open_ring(int descriptor, signal_kind kind, std::size_t message_bytes, Ring** out) noexcept {
    return make(out, open_it, [&] {
        return Ring{decltype(Ring::ring)(opened_signal::open_ring(descriptor, kind, message_bytes))};
    });
}

template <class Counter>
int open_counter(int descriptor, Counter** out) noexcept {
    return make(out, open_it,
                [&] { return Counter{decltype(Counter::counter)::open_shared(descriptor)}; });
}

/// Tells a stream to do something with what is not NULL.
template <class Handle, class Tell>
int tell_stream(Handle const* handle, char const* operation, Tell tell) noexcept {
    return attempt([&] { tell(expect(handle, operation, "create one first, not NULL")); });
}

} // namespace

int barmap_arena_create(barmap_device* device, std::size_t gpu_bytes, std::size_t host_bytes,
                        barmap_arena** out) {
    static constexpr char operation[] = "make an arena";
    return make(out, operation, [&] {
        return barmap_arena{barmap::arena(expect(device, operation, "create a device first").device,
                                          gpu_bytes, host_bytes)};
    });
}

void barmap_arena_destroy(barmap_arena* arena) {
    free_handle(arena);
}

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
    return open_ring(descriptor, signal_kind::ring_to_gpu, message_bytes, out);
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
    return open_ring(descriptor, signal_kind::ring_to_cpu, message_bytes, out);
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

int barmap_counter_to_gpu_create(barmap_arena* arena, std::uint64_t first,
                                 barmap_counter_to_gpu_handle* handle, barmap_counter_to_gpu** out) {
    return make_counter(arena, first, handle, out);
}

int barmap_counter_to_gpu_share(barmap_counter_to_gpu const* counter, int* descriptor) {
    return share(counter, &barmap_counter_to_gpu::counter, descriptor);
}

int barmap_counter_to_gpu_open_shared(int descriptor, barmap_counter_to_gpu** out) {
    return open_counter(descriptor, out);
}

void barmap_counter_to_gpu_destroy(barmap_counter_to_gpu* counter) {
    free_handle(counter);
}

void barmap_counter_to_gpu_advance(barmap_counter_to_gpu* counter, std::uint64_t to) {
    counter->counter.advance(to);
}

std::uint64_t barmap_counter_to_gpu_value(barmap_counter_to_gpu const* counter) {
    return counter->counter.value();
}

int barmap_counter_to_gpu_stream_wait(barmap_counter_to_gpu const* counter, void* stream,
                                      std::uint64_t at_least) {
    return tell_stream(counter, "have a stream wait for a counter",
                       [&](auto const& it) { it.counter.wait(stream, at_least); });
}

int barmap_counter_to_cpu_create(barmap_arena* arena, std::uint64_t first,
                                 barmap_counter_to_cpu_handle* handle, barmap_counter_to_cpu** out) {
    return make_counter(arena, first, handle, out);
}

int barmap_counter_to_cpu_share(barmap_counter_to_cpu const* counter, int* descriptor) {
    return share(counter, &barmap_counter_to_cpu::counter, descriptor);
}

int barmap_counter_to_cpu_open_shared(int descriptor, barmap_counter_to_cpu** out) {
    return open_counter(descriptor, out);
}

void barmap_counter_to_cpu_destroy(barmap_counter_to_cpu* counter) {
    free_handle(counter);
}

std::uint64_t barmap_counter_to_cpu_value(barmap_counter_to_cpu const* counter) {
    return counter->counter.value();
}

int barmap_counter_to_cpu_wait(barmap_counter_to_cpu const* counter, std::uint64_t at_least,
                               std::uint64_t nanoseconds) {
    return counter->counter.wait_for(at_least, wait_of_ns(nanoseconds));
}

int barmap_counter_to_cpu_record(barmap_counter_to_cpu const* counter, void* stream,
                                 std::uint64_t value) {
    return tell_stream(counter, "have a stream set a counter",
                       [&](auto const& it) { it.counter.record(stream, value); });
}
