// SPDX-License-Identifier: MIT
#include "command/exit_codes.hpp"
#include "kernels/ring_kernels.ptx.hpp"
#include "output/formatted.hpp"
#include "output/units.hpp"
#include "ring/ring_bench.hpp"

#include <barmap/ring.hpp>

#include <algorithm>
#include <bit>

namespace barmap::tool {
namespace {

constexpr std::size_t most_slots = std::size_t{1} << 20;

/// How a ring in this memory publishes its messages.
std::string_view publication_in(arena const& memory) {
    arena::part const line = memory.take_gpu(64);
    switch (detail::publication_for(line.window(), memory.kind())) {
    case detail::publication::by_line:
        return "lines";
    case detail::publication::by_words:
        return "words and a fence";
    case detail::publication::coherent:
        break;
    }
    return "coherent stores";
}

int run(ring_options const& values) {
    if (!std::has_single_bit(values.slots))
        throw usage_error(formatted("--slots of ring is a power of two, not {}", values.slots));
    report out(values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    gpu_kernels const kernels(ptx::ring_kernels);
    arena const memory(gpu.device(), values.slots * 256 + 64 * KiB, values.slots * 128 + 64 * KiB);
    ring_bench const bench{out, gpu, kernels, memory, values};
    pin const like_the_arena = gpu.device().allocate(64 * KiB);
    out.about(gpu.device(), like_the_arena.map().backend());
    std::string_view const publication = publication_in(memory);
    out.set("publication", publication);
    out.say(formatted("{}, rings of {} slots, messages to the GPU by {}\n\n",
                      title_of(gpu.device()), values.slots, publication));
    bool good = true;
    auto const part = [&](char const* name, bool (*measure)(ring_bench const&)) {
        if (std::find(values.only.begin(), values.only.end(), name) != values.only.end())
            good &= measure(bench);
    };
    part("rates", measure_ring_rates);
    part("rates", measure_ring_pushes);
    part("trip", measure_ring_trips);
    part("fifo", measure_ring_fifo);
    part("calls", measure_ring_calls);
    part("steps", measure_ring_steps);
    part("soak", soak_rings);
    return out.finish(good);
}

} // namespace

column link_column() {
    return {"link", "load", [](json const& under_load) -> std::string {
                return under_load.get<bool>() ? "loaded" : "idle";
            }};
}

std::vector<bool> ring_bench::loads() const {
    return values.load ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

std::uint64_t ring_bench::messages(std::uint64_t usual, std::uint64_t if_simulated) const {
    return values.messages ? values.messages : simulated() ? if_simulated : usual;
}

std::size_t ring_bench::iterations(std::size_t usual, std::size_t if_simulated) const {
    return values.iterations ? values.iterations : simulated() ? if_simulated : usual;
}

void add_ring(command_line& program) {
    subcommand app =
        program.add("ring", "Measure and verify rings between the CPU and running GPU kernels");
    auto values = std::make_shared<ring_options>();
    add_device_option(app, *values);
    app.add("--only", values->only, "what to measure; by default all")
        .some_of({"rates", "trip", "fifo", "calls", "steps", "soak"});
    app.add("--slots", values->slots, "messages that a ring holds, a power of two up to 1,048,576")
        .between(1, most_slots)
        .with_default();
    app.add("--messages", values->messages,
            "messages of each ring of rates, by default 1,000,000, and of each direction of soak, "
            "by "
            "default 10,000,000; on a simulated GPU 2,000 and 4,000")
        .positive();
    app.add("--iterations", values->iterations,
            "rounds of trip, fifo and calls, by default 100,000, and of steps, by default 20,000; "
            "on a "
            "simulated GPU 2,000, 2,000, 200 and 100")
        .positive();
    app.add("--slices", values->slices,
            "turns of rings, of the doorbell and of the clock in trip")
        .between(1, 100'000)
        .with_default();
    app.flag("--load", values->load,
             "measure rates, trip, fifo and calls a second time while CUDA copies both ways");
    add_output_options(app, *values);
    app.footer(
        {.remark = "Every word of every message is verified by its reader, with its number and a "
                   "sum. On a "
                   "terminal, a line says how long the rest of a part takes.",
         .exit_codes = {"0 done, and every message was right",
                        "1 a message was lost, doubled, torn or out of order, or a kernel did not "
                        "end as it should",
                        usage_help, unavailable_help, "4 a kernel did not answer within 20 s"},
         .examples = {"# A billion messages each way",
                      "barmap ring --only soak --messages 1000000000"}});
    when_chosen(app, values, run);
}

} // namespace barmap::tool
