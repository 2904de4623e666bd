// SPDX-License-Identifier: MIT
#include "measure/cuda_stream.hpp"
#include "measure/gpu_memory.hpp"
#include "ring/ring_bench.hpp"

#include <barmap/step_tensors.hpp>

#include <cstring>
#include <vector>

namespace barmap::tool {

bool measure_ring_steps(ring_bench const& bench) {
    constexpr std::size_t tensors = 48, bytes = 256, versions = 4;
    std::size_t const rounds = bench.iterations(20'000, 100), warm_up = rounds / 10 + 1;
    gpu_memory const memory = gpu_memory::device(tensors * bytes);
    std::vector<step_tensor> where;
    for (std::size_t i = 0; i < tensors; ++i)
        where.push_back({memory.address() + i * bytes, bytes});
    step_inputs inputs(bench.gpu.device(), where, versions);
    step_outputs outputs(bench.gpu.device(), where, versions);
    cuda_stream const stream;
    std::vector<std::byte> values(tensors * bytes);
    samples pushes, trips;
    std::uint64_t wrong = 0;
    for (std::size_t round = 0; round < rounds + warm_up; ++round) {
        for (std::size_t i = 0; i < tensors; ++i)
            std::memcpy(values.data() + i * bytes, &round, sizeof round);
        inputs.enqueue_load(stream.get()); // waits for the push
        outputs.enqueue_store(stream.get());
        clock::time_point const begin = clock::now();
        for (std::size_t i = 0; i < tensors; ++i)
            std::memcpy(inputs.staging(i).data(), values.data() + i * bytes, bytes);
        bool const is_pushed = inputs.try_push();
        clock::time_point const pushed = clock::now();
        wait_until([&] { return outputs.try_pop(); }, "the results of a step");
        clock::time_point const done = clock::now();
        for (std::size_t i = 0; i < tensors; ++i)
            wrong +=
                !is_pushed || std::memcmp(outputs.staging(i).data(), &round, sizeof round) != 0;
        if (round < warm_up)
            continue;
        using nanoseconds = std::chrono::duration<double, std::nano>;
        pushes.add(nanoseconds(pushed - begin).count() - clock_cost_ns());
        trips.add(nanoseconds(done - begin).count() - clock_cost_ns());
    }
    bool const good = wrong == 0 && !inputs.failed() && !outputs.failed();
    measurement const what(
        "step", {"a step of 48 × 256 B", us("min"), us("p50"), us("p99"), us("p99.9"), us("max")});
    results found(bench.out, what);
    auto const add = [&](char const* name, char const* text, samples const& taken) {
        found.add(result_row({{"what", name}, {"tensors", tensors}, {"bytes", bytes}})
                      .with_tail(taken.summarise())
                      .has("passed", good),
                  {text, good ? "" : "FAILED: a value was wrong"}, good);
    };
    add("push", "fill and push", pushes);
    add("trip", "push, load, store, pop", trips);
    return found.tell();
}

} // namespace barmap::tool
