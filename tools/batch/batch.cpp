// SPDX-License-Identifier: MIT
#include "batch/batch.hpp"

#include "batch/batch_kernels.ptx.hpp"
#include "output/formatted.hpp"
#include "output/units.hpp"
#include "program/exit_codes.hpp"

#include <barmap/error.hpp>

#include <optional>

namespace barmap::tool {
namespace {

/// Each new engine takes time to start: this one lives while the program measures.
std::optional<batch_queue> started_queue(opened_gpu const& gpu) {
    try {
        return gpu.device().batches();
    } catch (error const&) {
        return std::nullopt; // whoever needs one says why there is none
    }
}

json reports_of(std::optional<batch_queue> const& queue) {
    json found = json::array();
    if (!queue)
        return found;
    for (engine_report const& each : queue->reports())
        found.push_back({{"name", each.name},
                         {"state", to_string(each.state)},
                         {"reason", each.reason},
                         {"advice", each.advice}});
    return found;
}

int run(batch_options const& given) {
    constexpr std::size_t least_pool = 64 * KiB;
    batch_options values = given;
    if (values.pool < least_pool)
        throw usage_error("--pool of batch has 64K at least");
    bool const table = values.check == 0 && values.round_trips == 0 && !values.ordered &&
                       !values.both && values.beside.empty();
    if (table)
        values.sizes = sizes_to_measure(values, 512);
    report out(values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    gpu_kernels const kernels(ptx::batch_kernels);
    batch_bench const bench{out, gpu, kernels, values};
    out.about(gpu.device());
    out.say(formatted("{}, pinned host memory\n\n", title_of(gpu.device())));
    auto const engine = started_queue(gpu);
    bool good = true;
    auto const part = [&](bool wanted, bool (*measure)(batch_bench const&)) {
        if (wanted)
            good &= measure(bench);
    };
    part(table, measure_batches);
    part(values.check > 0, check_batches);
    part(values.round_trips > 0, make_round_trips);
    part(values.ordered, measure_order);
    part(values.both, measure_both_ways);
    part(!values.beside.empty(), measure_beside_gemm);
    out.set("engines", reports_of(engine));
    out.finish();
    return good ? exit_ok : exit_failed;
}

} // namespace

void add_batch(command_line& program) {
    subcommand app = program.add("batch", "Measure and verify batches of scattered copies");
    auto values = std::make_shared<batch_options>();
    values->max = MiB;
    values->budget_s = 0.05;
    values->pool = 256 * MiB;
    constexpr std::size_t most_pieces = 4096;
    add_device_option(app, *values);
    app.add("--pieces", values->pieces,
            "numbers of pieces, from 1 to 4096; by default 1,4,16,64,256,1024,4096")
        .between(1, most_pieces)
        .list()
        .named("N,...");
    add_measuring_options(app, *values, "number, size, direction and order", "512,4K,64K");
    app.add("--direction", values->directions, "directions: to_cpu, to_gpu; by default both")
        .some_of({"to_cpu", "to_gpu"});
    app.add("--order", values->orders,
            "places of pieces on either side: random, contiguous; by default both")
        .some_of({"contiguous", "random"});
    app.add("--methods", values->methods, "what to measure; by default all")
        .some_of(batch_method_names());
    add_size_option(
        app, "--pool", values->pool,
        "memory that pieces come from, from 64K on, four times that in all; a batch takes a "
        "quarter of it at most");
    app.flag("--same", values->same, "the same pieces in each round of the table");
    app.flag("--both", values->both, "copy in both directions at once: GB/s of each and in sum");
    app.add("--beside", values->beside, "how much batches slow large matrix products (gemm)")
        .one_of({"gemm"})
        .named("NAME");
    app.flag(
        "--ordered", values->ordered,
        "time from the end of a kernel to the start of the next one, with a batch between them");
    app.add("--check", values->check,
            "verify that many batches of pieces of random sizes and places")
        .positive();
    app.add("--round-trips", values->round_trips,
            "verify that many: a kernel writes, two batches copy out and in, a kernel checks")
        .positive();
    app.add("--seed", values->seed,
            "seed of the random choices: the same one makes the same choices")
        .between(0, UINT32_MAX)
        .with_default();
    add_output_options(app, *values);
    app.footer(
        {.remark =
             "Submission and completion are inside the time. Every method's bytes, and those "
             "around and between the pieces, are verified outside of it. With --both, --beside, "
             "--ordered, --check or --round-trips, one or several of them, that is done instead of "
             "the table.",
         .exit_codes =
             {"0 every byte was right", "1 a byte was wrong, early or stale, or a method failed",
              "2 an option or argument is wrong, every batch is too large for --pool, or the file "
              "of --output cannot be written",
              "3 there is no GPU, no copy engine where one is needed, or no cuBLAS for --beside; a "
              "driver call refused, or the output could not be written to stdout",
              "4 a batch did not end in time"},
         .examples = {"# The whole table, about a minute, and its plot",
                      "barmap batch --output batch.json && barmap plot batch.json -o batch.svg",
                      "# Blocks of 4 and 64 KiB, many at once",
                      "barmap batch --pool 1G --pieces 256,4096 --sizes 4K,64K --order random",
                      "# Beside a model's work",
                      "barmap batch --beside gemm --methods engine,batch,kernel32",
                      "# Correctness, for some minutes",
                      "barmap batch --check 100000 --round-trips 1000000"}});
    when_chosen(app, values, run);
}

} // namespace barmap::tool
