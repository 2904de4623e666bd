// SPDX-License-Identifier: MIT
#include "kernels.hpp"

#include "kernel_parameters.hpp"

#include "kernels/ring_kernels.cuh"

#include <thread>
#include <vector>

/// The kernels of `barmap ring`: the very code that GPUs run, by a thread in the place of the
/// kernel.
namespace barmap::sim {
namespace {

using tool::ring_findings;
using tool::ring_task;
using tool::sealed_message;

/// A handle whose addresses are the simulated driver's.
template <class Handle>
Handle handle_of(void** parameters, int index, unsigned words_of_slot) {
    auto handle = parameter<Handle>(parameters, index);
    constexpr std::uint64_t most_slots = std::uint64_t{1} << 32;
    require(handle.mask < most_slots);
    constexpr std::uint64_t words = gpu::ring_words::bytes / sizeof(gpu::word);
    handle.slots = resolved(handle.slots, (handle.mask + 1) * words_of_slot);
    handle.control = resolved(handle.control, words);
    handle.credits = resolved(handle.credits, words);
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
    task.nanoseconds = 100'000; // and then again_later
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

/// How many CPU threads act as the kernel's.
unsigned team_of(void** parameters, int index) {
    auto const threads = parameter<unsigned>(parameters, index);
    constexpr unsigned most_threads = 64;
    require(threads >= 1 && threads <= most_threads);
    return threads;
}

/// @param run called with the index of each thread
template <class Run>
std::function<void()> by_team(unsigned threads, Run run) {
    return [=] {
        std::vector<std::thread> team;
        for (unsigned i = 0; i < threads; ++i)
            team.emplace_back([=] { run(i); });
        for (std::thread& one : team)
            one.join();
    };
}

template <unsigned Bytes>
std::function<void()> source_of_many(void** parameters, unsigned) {
    auto const ring = handle_to_cpu<Bytes>(parameters, 0);
    ring_task const task = task_of(parameters, 1);
    unsigned const threads = team_of(parameters, 3);
    auto* const findings = pointer<ring_findings>(parameters, 2, threads);
    return by_team(threads, [=](unsigned index) {
        tool::source_of_many<Bytes>(ring, task, findings, index, threads, again_later());
    });
}

template <unsigned Bytes>
std::function<void()> echo(void** parameters, unsigned) {
    auto const in = handle_to_gpu<Bytes>(parameters, 0);
    auto const out = handle_to_cpu<8>(parameters, 1);
    ring_task const task = task_of(parameters, 2);
    auto* const findings = pointer<ring_findings>(parameters, 3, 1);
    return [=] { tool::echo<Bytes>(in, out, task, findings, again_later()); };
}

std::function<void()> echo_bare(void** parameters, unsigned) {
    auto const in = handle_to_gpu<32>(parameters, 0);
    auto const out = handle_to_cpu<8>(parameters, 1);
    ring_task const task = task_of(parameters, 2);
    auto* const findings = pointer<ring_findings>(parameters, 3, 1);
    return [=] { tool::echo_bare(in, out, task, findings, again_later()); };
}

struct cpu_clock {
    [[nodiscard]] gpu::word nanoseconds() const { return sim::nanoseconds(); }
    [[nodiscard]] gpu::word ticks() const { return nanoseconds(); }
};

template <unsigned Request, unsigned Reply>
std::function<void()> call_cpu(void** parameters, unsigned) {
    using request = sealed_message<Request>;
    using reply = sealed_message<Reply>;
    auto cpu = parameter<gpu::rpc_to_cpu<request, reply>>(parameters, 0);
    constexpr std::uint64_t most_slots = std::uint64_t{1} << 32;
    require(cpu.mask < most_slots);
    cpu.requests = resolved(cpu.requests, (cpu.mask + 1) * gpu::slot_to_cpu<request>::words);
    cpu.replies = resolved(cpu.replies, (cpu.mask + 1) * gpu::slot_to_gpu<reply>::words);
    cpu.owners = resolved(cpu.owners, cpu.mask + 1);
    cpu.control = resolved(cpu.control, gpu::rpc_words::count);
    auto task = parameter<ring_task>(parameters, 1);
    auto const threads = team_of(parameters, 3);
    auto* const findings = pointer<ring_findings>(parameters, 2, threads);
    auto* const times = pointer<gpu::word>(parameters, 4, task.count + 2);
    return by_team(threads, [=](unsigned index) {
        tool::call_cpu<Request, Reply>(cpu, task, findings, index, threads, times, cpu_clock());
    });
}

constexpr kernel ring_kernels[] = {
    {"barmap_ring_sink_thread_32", sink_of_thread<32>},
    {"barmap_ring_sink_thread_56", sink_of_thread<56>},
    {"barmap_ring_sink_thread_112", sink_of_thread<112>},
    {"barmap_ring_sink_thread_224", sink_of_thread<224>},
    {"barmap_ring_sink_warp_32", sink_of_warp<32>},
    {"barmap_ring_sink_warp_56", sink_of_warp<56>},
    {"barmap_ring_sink_warp_112", sink_of_warp<112>},
    {"barmap_ring_sink_warp_224", sink_of_warp<224>},
    {"barmap_ring_source_thread_8", source_of_thread<8>},
    {"barmap_ring_source_thread_56", source_of_thread<56>},
    {"barmap_ring_source_thread_120", source_of_thread<120>},
    {"barmap_ring_source_warp_8", source_of_warp<8>},
    {"barmap_ring_source_warp_56", source_of_warp<56>},
    {"barmap_ring_source_warp_120", source_of_warp<120>},
    {"barmap_ring_source_many_8", source_of_many<8>},
    {"barmap_ring_source_many_56", source_of_many<56>},
    {"barmap_ring_source_many_120", source_of_many<120>},
    {"barmap_ring_echo_32", echo<32>},
    {"barmap_ring_echo_56", echo<56>},
    {"barmap_ring_echo_bare", echo_bare},
    {"barmap_ring_call_8_8", call_cpu<8, 8>},
    {"barmap_ring_call_8_32", call_cpu<8, 32>},
    {"barmap_ring_call_56_56", call_cpu<56, 56>},
};

} // namespace

std::span<kernel const> ring_routines() noexcept {
    return ring_kernels;
}

} // namespace barmap::sim
