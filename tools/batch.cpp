// SPDX-License-Identifier: MIT
#include "batch.hpp"

#include "exit_codes.hpp"
#include "formatted.hpp"
#include "ptx_batch.hpp"
#include "units.hpp"

#include <barmap/error.hpp>

#include <optional>

namespace barmap::tool {
namespace {

/// Each new engine takes time to start: this one lives while the program measures.
std::optional<copy_engine> started_engine(opened_gpu const& gpu) {
    try {
        return gpu.device().copy_engine();
    } catch (error const&) {
        return std::nullopt; // whoever needs one says why there is none
    }
}

json reports_of(std::optional<copy_engine> const& engine) {
    json found = json::array();
    if (!engine)
        return found;
    for (engine_report const& each : engine->reports())
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
    gpu_kernels const kernels(ptx_batch);
    batch_bench const bench{out, gpu, kernels, values};
    out.about(gpu.device());
    out.say(formatted("{}{}, pinned host memory\n\n", gpu.device().name(),
                      gpu.device().simulated() ? " (simulated GPU)" : ""));
    auto const engine = started_engine(gpu);
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
    subcommand app = program.add(
        "batch", "Batches of scattered copies, by the copy engine and by what else there is");
    auto values = std::make_shared<batch_options>();
    values->max = MiB;
    values->budget_s = 0.05;
    values->pool = 256 * MiB;
    constexpr std::size_t most_pieces = 4096;
    add_device_option(app, *values);
    app.add("--pieces", values->pieces,
            "numbers of pieces, up to 4096; default 1,4,16,64,256,1024,4096")
        .between(1, most_pieces)
        .list()
        .named("N,...");
    add_measuring_options(app, *values);
    app.add("--direction", values->directions, "to_cpu, to_gpu; default both")
        .one_of({"to_cpu", "to_gpu"})
        .list()
        .named("NAME,...");
    app.add("--order", values->orders, "contiguous, random; default both")
        .one_of({"contiguous", "random"})
        .list()
        .named("NAME,...");
    app.add("--methods", values->methods,
            "what to measure: engine, batch, loop, graph, kernel4, kernel32; default all")
        .one_of(batch_method_names())
        .list()
        .named("NAME,...");
    add_size_option(app, "--pool", values->pool,
                    "memory that pieces come from, four times that in all; a batch takes a quarter "
                    "of it at most");
    app.flag("--same", values->same, "the same pieces in each round, in caches and translated");
    app.flag("--both", values->both, "both directions at once, GB/s in sum");
    app.add("--beside", values->beside, "gemm: how much batches slow a large matrix product")
        .one_of({"gemm"});
    app.flag("--ordered", values->ordered,
             "from the end of a kernel to the start of the next one, with a batch between them");
    app.add("--check", values->check, "verify that many batches of random sizes and places")
        .positive();
    app.add("--round-trips", values->round_trips,
            "verify that many: a kernel writes, two batches copy out and in, a kernel checks")
        .positive();
    app.add("--seed", values->seed, "of the random choices").between(0, UINT32_MAX).with_default();
    add_output_options(app, *values);
    app.footer("Without --both, --beside, --ordered, --check or --round-trips: every method by "
               "pieces, size, direction and order.\n"
               "Submission and completion are inside the time. Every method's bytes, and those "
               "around and between the pieces, are verified outside of it; exits 1 if one was "
               "wrong.");
    when_chosen(app, values, run);
}

} // namespace barmap::tool
