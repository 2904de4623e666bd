// SPDX-License-Identifier: MIT
#include <barmap/counter.h>

#include "signal/made_signal.hpp"

#include <barmap/counter.hpp>
#include <barmap/waits.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

struct barmap_counter_to_gpu {
    barmap::counter_to_gpu counter;
};

struct barmap_counter_to_cpu {
    barmap::counter_to_cpu counter;
};

namespace {

using namespace barmap;
using c::expect;
using c::free_handle;
using detail::wait_of_ns;
using signal::share;

// Kernels take C's structures as those of <barmap/gpu>.
using c_counter = barmap_counter_to_cpu_handle;
using cxx_counter = gpu::counter_to_cpu;
static_assert(sizeof(c_counter) == sizeof(cxx_counter) &&
              offsetof(c_counter, value) == offsetof(cxx_counter, value) &&
              offsetof(c_counter, arrived) == offsetof(cxx_counter, arrived) &&
              offsetof(c_counter, first) == offsetof(cxx_counter, first));
static_assert(sizeof(barmap_counter_to_gpu_handle) == sizeof(gpu::counter_to_gpu));

template <class Counter, class Handle>
int make_counter(barmap_arena* memory, std::uint64_t first, Handle* handle, Counter** out) noexcept {
    static constexpr char operation[] = "make a counter";
    return signal::made(out, handle, operation, &Counter::counter, [&] {
        arena const from(barmap_arena_retain(&expect(memory, operation, "make an arena first")));
        return std::unique_ptr<Counter>(new Counter{decltype(Counter::counter)(from, first)});
    });
}

template <class Counter>
int open_counter(int descriptor, Counter** out) noexcept {
    return c::make(out, "open shared memory", [&] {
        return std::unique_ptr<Counter>(
            new Counter{decltype(Counter::counter)::open_shared(descriptor)});
    });
}

/// Tells a stream to do something with what is not NULL.
template <class Handle, class Tell>
int tell_stream(Handle const* handle, char const* operation, Tell tell) noexcept {
    return c::attempt([&] { tell(expect(handle, operation, "create one first, not NULL")); });
}

} // namespace

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
