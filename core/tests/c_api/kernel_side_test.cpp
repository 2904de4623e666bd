// SPDX-License-Identifier: MIT
// Both sides: the CPU's through the C interface, and the code of kernels, run by a thread that
// finds GPU memory by a mapping of the addresses in the handles.
#include <barmap/counter.h>
#include <barmap/gpu/counter.cuh>
#include <barmap/gpu/ring.cuh>
#include <barmap/ring.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using barmap::gpu::status;
using barmap::gpu::word;

constexpr std::uint64_t second = 1000000000, long_enough = 20 * second;
constexpr word patience = 60000000000; // ns

int failures;
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: not so: %s (last message: %s)\n", __FILE__, __LINE__,     \
                         #condition, barmap_error_message());                                      \
            ++failures;                                                                            \
        }                                                                                          \
    } while (0)

barmap_device* device;
barmap_arena* words;

/// Maps GPU memory a second time, for threads in the place of kernels.
class views {
public:
    views() = default;
    views(views const&) = delete;
    views& operator=(views const&) = delete;
    ~views() {
        for (barmap_mapping* each : mappings_)
            barmap_mapping_destroy(each);
    }
    word* of(word const* gpu, std::size_t bytes) {
        barmap_pin* pin = nullptr;
        barmap_mapping* map = nullptr;
        CHECK(barmap_pin_create(device, reinterpret_cast<std::uintptr_t>(gpu), bytes, nullptr,
                                &pin) == BARMAP_OK);
        CHECK(barmap_mapping_create(pin, &map) == BARMAP_OK);
        barmap_pin_destroy(pin);
        mappings_.push_back(map);
        return static_cast<word*>(barmap_mapping_data(map));
    }

private:
    std::vector<barmap_mapping*> mappings_;
};

/// What a kernel makes of a parameter.
template <class Gpu, class C>
Gpu as_parameter(C const& handle) {
    static_assert(sizeof(Gpu) == sizeof(C), "passed by value");
    Gpu result;
    std::memcpy(static_cast<void*>(&result), &handle, sizeof result);
    return result;
}

template <std::size_t Bytes>
struct message {
    unsigned char bytes[Bytes];
};

template <std::size_t Bytes>
message<Bytes> numbered(word number) {
    message<Bytes> result;
    for (std::size_t i = 0; i < Bytes; ++i)
        result.bytes[i] = static_cast<unsigned char>(number * 31 + i * 7 + 1);
    return result;
}

template <std::size_t Bytes>
bool is_numbered(message<Bytes> const& value, word number) {
    message<Bytes> const expected = numbered<Bytes>(number);
    return std::memcmp(&value, &expected, sizeof value) == 0;
}

barmap_ring_state state_of(barmap_ring_to_gpu const* ring) {
    barmap_ring_state result;
    barmap_ring_to_gpu_state(ring, &result);
    return result;
}

barmap_ring_state state_of(barmap_ring_to_cpu const* ring) {
    barmap_ring_state result;
    barmap_ring_to_cpu_state(ring, &result);
    return result;
}

/// All that a thread pops it pushes back; by the end, both sides know of it.
template <std::size_t Bytes>
void messages_go_both_ways(barmap_device* own, barmap_arena* arena) {
    using type = message<Bytes>;
    constexpr std::size_t slots = 8, count = 1000;
    barmap_ring_to_gpu* there = nullptr;
    barmap_ring_to_cpu* back = nullptr;
    barmap_ring_handle to_gpu, to_cpu;
    CHECK(barmap_ring_to_gpu_create(own, arena, Bytes, slots, &to_gpu, &there) == BARMAP_OK);
    CHECK(barmap_ring_to_cpu_create(own, arena, Bytes, slots, &to_cpu, &back) == BARMAP_OK);
    auto in = as_parameter<barmap::gpu::ring_to_gpu<type>>(to_gpu);
    auto out = as_parameter<barmap::gpu::ring_to_cpu<type>>(to_cpu);
    views view;
    in.slots = view.of(in.slots, slots * barmap::gpu::slot_to_gpu<type>::bytes);
    in.control = view.of(in.control, barmap::gpu::ring_words::bytes);
    out.credits = view.of(out.credits, barmap::gpu::ring_words::bytes);

    std::atomic<int> wrong{0};
    std::thread kernel([&] {
        barmap::gpu::consumer<type> commands(in);
        barmap::gpu::producer<type> answers(out);
        type next;
        word number = 0;
        while (commands.pop(next, patience) == status::ok) {
            wrong += !is_numbered(next, number++);
            wrong += answers.push(next, patience) != status::ok;
        }
        wrong += number != count;
        commands.close();
        answers.close();
    });
    std::vector<type> messages;
    for (word i = 0; i < count; ++i)
        messages.push_back(numbered<Bytes>(i));
    std::size_t sent = 0, got = 0;
    type received[5];
    while (got < count) {
        std::size_t const wanted = count - sent < 3 ? count - sent : 3;
        sent += barmap_ring_to_gpu_push(there, messages.data() + sent, wanted);
        barmap_ring_to_gpu_flush(there);
        if (!barmap_ring_to_cpu_wait(back, long_enough))
            break;
        CHECK(state_of(back).depth >= 1);
        std::size_t const popped = barmap_ring_to_cpu_pop(back, received, 5);
        for (std::size_t i = 0; i < popped; ++i)
            wrong += !is_numbered(received[i], got + i);
        got += popped;
    }
    CHECK(sent == count && got == count);
    CHECK(state_of(there).closed == 0 && state_of(back).closed == 0);
    barmap_ring_to_gpu_close(there); // or the thread waits for ever
    kernel.join();
    CHECK(wrong == 0);
    CHECK(state_of(there).closed == 1 && state_of(back).closed == 1);
    CHECK(barmap_ring_to_cpu_wait(back, UINT64_MAX) == 0); // nothing will come
    CHECK(barmap_ring_to_cpu_pop(back, received, 5) == 0);
    CHECK(state_of(there).depth == 0);
    CHECK(barmap_ring_to_gpu_push(there, messages.data(), slots) == slots);
    CHECK(barmap_ring_to_gpu_wait(there, UINT64_MAX) == 0); // nor is there room
    barmap_ring_to_gpu_destroy(there);
    barmap_ring_to_cpu_destroy(back);
}

void a_reader_that_has_ended_is_noticed() {
    barmap_ring_to_cpu* ring = nullptr;
    barmap_ring_handle handle;
    CHECK(barmap_ring_to_cpu_create(nullptr, words, 8, 2, &handle, &ring) == BARMAP_OK);
    auto out = as_parameter<barmap::gpu::ring_to_cpu<word>>(handle);
    views view;
    out.credits = view.of(out.credits, barmap::gpu::ring_words::bytes);
    CHECK(barmap::gpu::push(out, word{1}) == status::ok);
    CHECK(barmap::gpu::push(out, word{2}) == status::ok);
    CHECK(barmap::gpu::push(out, word{3}) == status::full);
    CHECK(state_of(ring).depth == 2);
    barmap_ring_to_cpu_close(ring);
    CHECK(barmap::gpu::push(out, word{3}) == status::closed);
    barmap_ring_to_cpu_destroy(ring);
}

void counters_tell_each_side() {
    barmap_counter_to_gpu* there = nullptr;
    barmap_counter_to_cpu* back = nullptr;
    barmap_counter_to_gpu_handle one;
    barmap_counter_to_cpu_handle three;
    CHECK(barmap_counter_to_gpu_create(words, 6, &one, &there) == BARMAP_OK);
    CHECK(barmap_counter_to_cpu_create(words, 6, &three, &back) == BARMAP_OK);
    views view;
    auto in = as_parameter<barmap::gpu::counter_to_gpu>(one);
    in.value = view.of(in.value, sizeof(word));
    auto out = as_parameter<barmap::gpu::counter_to_cpu>(three);
    out.arrived = view.of(out.arrived, sizeof(word));

    CHECK(barmap::gpu::value_of(in) == 6);
    CHECK(barmap::gpu::wait_for(in, 7) == status::empty);
    barmap_counter_to_gpu_advance(there, 7);
    CHECK(barmap::gpu::wait_for(in, 7) == status::ok);
    CHECK(!barmap::gpu::arrive(out, 2) && barmap_counter_to_cpu_value(back) == 6);
    CHECK(barmap::gpu::arrive(out, 2) && barmap_counter_to_cpu_value(back) == 7);
    barmap::gpu::advance(out, 9);
    CHECK(barmap_counter_to_cpu_wait(back, 9, 0) == 1);
    barmap_counter_to_gpu_destroy(there);
    barmap_counter_to_cpu_destroy(back);
}

} // namespace

int main() {
    if (barmap_device_create(0, &device) || barmap_arena_create(device, 1 << 17, 1 << 17, nullptr, &words)) {
        std::fprintf(stderr, "%s\n", barmap_error_message());
        return 1;
    }
    messages_go_both_ways<8>(device, nullptr);
    messages_go_both_ways<57>(nullptr, words);
    messages_go_both_ways<200>(nullptr, words);
    a_reader_that_has_ended_is_noticed();
    counters_tell_each_side();
    barmap_arena_destroy(words);
    barmap_device_destroy(device);
    return failures != 0;
}
