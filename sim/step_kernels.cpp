// SPDX-License-Identifier: MIT
#include "kernels.hpp"

#include "kernel_parameters.hpp"

#include <barmap/gpu/step.cuh>

#include <memory>
#include <vector>

/// The kernels of step_inputs and step_outputs: the very code that GPUs run, by a thread in the place
/// of the block.
namespace barmap::sim {
namespace {

/// A task whose addresses are the simulated driver's.
struct resolved_task {
    step::task task;
    std::vector<step::chunk> chunks;
};

std::shared_ptr<resolved_task> step_of(void** parameters, std::uint64_t slot_words) {
    auto result = std::make_shared<resolved_task>();
    step::task& task = result->task = parameter<step::task>(parameters, 0);
    constexpr std::uint64_t most_slots = std::uint64_t{1} << 32, most_chunks = 1 << 20;
    constexpr std::uint64_t words = gpu::ring_words::bytes / sizeof(gpu::word);
    require(task.ring.mask < most_slots && task.count < most_chunks);
    task.ring.slots = resolved(task.ring.slots, (task.ring.mask + 1) * slot_words);
    task.ring.control = resolved(task.ring.control, words);
    task.ring.credits = resolved(task.ring.credits, words);
    task.failures = resolved(task.failures, 1);
    task.chunks = resolved(const_cast<step::chunk*>(task.chunks), task.count);
    result->chunks.assign(task.chunks, task.chunks + task.count);
    for (step::chunk& each : result->chunks)
        each.at = resolved(each.at, each.bytes);
    task.chunks = result->chunks.data();
    task.nanoseconds = 100'000; // and then again_later
    return result;
}

std::function<void()> load_step(void** parameters, unsigned) {
    auto const words = parameter<step::task>(parameters, 0).words;
    return [with = step_of(parameters, gpu::detail::lines_of(words) * 8)] {
        step::load(with->task, again_later());
    };
}

std::function<void()> store_step(void** parameters, unsigned) {
    auto const words = parameter<step::task>(parameters, 0).words;
    return [with = step_of(parameters, words == 1 ? 2 : (words + 8) / 8 * 8)] {
        step::store(with->task, again_later());
    };
}

constexpr kernel step_kernels[] = {
    {"barmap_step_load", load_step},
    {"barmap_step_store", store_step},
};

} // namespace

std::span<kernel const> step_routines() noexcept {
    return step_kernels;
}

} // namespace barmap::sim
