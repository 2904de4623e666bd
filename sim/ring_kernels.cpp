// SPDX-License-Identifier: MIT
#include "kernels.hpp"

#include "kernel_parameters.hpp"

#include <ring_kernels.cuh>

#include <sched.h>
#include <thread>
#include <vector>

/// The kernels of `barmap ring`: the very code that GPUs run, by a thread in the place of the
/// kernel.
namespace barmap::sim {
namespace {

/// Lets other threads run between looks, for as long as it takes: there may be few processors.
struct again_later {
    bool operator()() const {
        sched_yield();
        return true;
    }
};

using tool::ring_findings;
using tool::ring_task;
using tool::sealed_message;

gpu::word* words_at(gpu::word* address, std::uint64_t count) {
    auto const at = reinterpret_cast<std::uintptr_t>(address);
    std::byte* const found = the_world().addresses.resolve(at, count * sizeof(gpu::word));
    require(found && at % sizeof(gpu::word) == 0);
    return reinterpret_cast<gpu::word*>(found);
}

/// A handle whose addresses are the simulated driver's.
template <class Handle>
Handle handle_of(void** parameters, int index, unsigned words_of_slot) {
    auto handle = parameter<Handle>(parameters, index);
    constexpr std::uint64_t most_slots = std::uint64_t{1} << 32;
    require(handle.mask < most_slots);
    constexpr std::uint64_t words = gpu::ring_words::bytes / sizeof(gpu::word);
    handle.slots = words_at(handle.slots, (handle.mask + 1) * words_of_slot);
    handle.control = words_at(handle.control, words);
    handle.credits = words_at(handle.credits, words);
    return handle;
}

template <unsigned Bytes>
auto handle_to_gpu(void** parameters, int index) {
    using message = sealed_message<Bytes>;
    return handle_of<gpu::ring_to_gpu<message>>(parameters, index,
                                                gpu::slot_to_gpu<message>::words);
}

template <unsigned Bytes>
auto handle_to_cpu(void** parameters, int index) {
    using message = sealed_message<Bytes>;
    return handle_of<gpu::ring_to_cpu<message>>(parameters, index,
                                                gpu::slot_to_cpu<message>::words);
}

ring_task task_of(void** parameters, int index) {
    auto task = parameter<ring_task>(parameters, index);
    task.looks = 500; // and then again_later
    return task;
}

template <unsigned Bytes>
std::function<void()> sink_of_thread(void** parameters, unsigned) {
    auto const ring = handle_to_gpu<Bytes>(parameters, 0);
    ring_task const task = task_of(parameters, 1);
    auto* const findings = pointer<ring_findings>(parameters, 2, 1);
    return [=] { tool::sink_of_thread<Bytes>(ring, task, findings, again_later()); };
}

// A warp has one lane here.
template <unsigned Bytes>
std::function<void()> sink_of_warp(void** parameters, unsigned) {
    auto const ring = handle_to_gpu<Bytes>(parameters, 0);
    ring_task const task = task_of(parameters, 1);
    auto* const findings = pointer<ring_findings>(parameters, 2, 1);
    return [=] { tool::sink_of_warp<Bytes>(ring, task, findings, 0, again_later()); };
}

template <unsigned Bytes>
std::function<void()> source_of_thread(void** parameters, unsigned) {
    auto const ring = handle_to_cpu<Bytes>(parameters, 0);
    ring_task const task = task_of(parameters, 1);
    auto* const findings = pointer<ring_findings>(parameters, 2, 1);
    return [=] { tool::source_of_thread<Bytes>(ring, task, findings, again_later()); };
}

template <unsigned Bytes>
std::function<void()> source_of_warp(void** parameters, unsigned) {
    auto const ring = handle_to_cpu<Bytes>(parameters, 0);
    ring_task const task = task_of(parameters, 1);
    auto* const findings = pointer<ring_findings>(parameters, 2, 1);
    return [=] { tool::source_of_warp<Bytes>(ring, task, findings, 0, 1, again_later()); };
}

template <unsigned Bytes>
std::function<void()> source_of_many(void** parameters, unsigned) {
    auto const ring = handle_to_cpu<Bytes>(parameters, 0);
    ring_task const task = task_of(parameters, 1);
    auto const threads = parameter<unsigned>(parameters, 3);
    constexpr unsigned most_threads = 64; // of the CPU
    require(threads >= 1 && threads <= most_threads);
    auto* const findings = pointer<ring_findings>(parameters, 2, threads);
    return [=] {
        std::vector<std::thread> team;
        for (unsigned i = 0; i < threads; ++i)
            team.emplace_back([=] {
                tool::source_of_many<Bytes>(ring, task, findings, i, threads, again_later());
            });
        for (std::thread& one : team)
            one.join();
    };
}

std::function<void()> echo(void** parameters, unsigned) {
    auto const in = handle_to_gpu<56>(parameters, 0);
    auto const out = handle_to_cpu<8>(parameters, 1);
    ring_task const task = task_of(parameters, 2);
    auto* const findings = pointer<ring_findings>(parameters, 3, 1);
    return [=] { tool::echo(in, out, task, findings, again_later()); };
}

constexpr kernel ring_kernels[] = {
    {"barmap_ring_sink_thread_64", sink_of_thread<56>},
    {"barmap_ring_sink_thread_128", sink_of_thread<112>},
    {"barmap_ring_sink_thread_256", sink_of_thread<224>},
    {"barmap_ring_sink_warp_64", sink_of_warp<56>},
    {"barmap_ring_sink_warp_128", sink_of_warp<112>},
    {"barmap_ring_sink_warp_256", sink_of_warp<224>},
    {"barmap_ring_source_thread_16", source_of_thread<8>},
    {"barmap_ring_source_thread_64", source_of_thread<56>},
    {"barmap_ring_source_thread_128", source_of_thread<120>},
    {"barmap_ring_source_warp_16", source_of_warp<8>},
    {"barmap_ring_source_warp_64", source_of_warp<56>},
    {"barmap_ring_source_warp_128", source_of_warp<120>},
    {"barmap_ring_source_many_16", source_of_many<8>},
    {"barmap_ring_source_many_64", source_of_many<56>},
    {"barmap_ring_source_many_128", source_of_many<120>},
    {"barmap_ring_echo", echo},
};

} // namespace

kernel const* find_ring_routine(std::string_view name) noexcept {
    for (kernel const& known : ring_kernels)
        if (name == known.name)
            return &known;
    return nullptr;
}

} // namespace barmap::sim
