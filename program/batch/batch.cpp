// SPDX-License-Identifier: MIT
#include "batch/batch.hpp"

#include "command/exit_codes.hpp"
#include "cuda/peer_access.hpp"
#include "kernels/batch_kernels.ptx.hpp"
#include "output/formatted.hpp"
#include "output/units.hpp"

#include <barmap/error.hpp>

#include <optional>

namespace barmap::tool {
namespace {

/// Keeps the engine running while the program measures, since each start takes time.
std::optional<batch_queue> started_queue(opened_gpu const& gpu) {
    try {
        return gpu.device().batch_queue();
    } catch (error const&) {
        return std::nullopt; // a method that needs an engine reports the reason
    }
}

json reports_of(std::optional<batch_queue> const& queue) {
    json found = json::array();
    if (!queue)
        return found;
    for (engine_report const& each : queue->reports())
        found.push_back(object({{"name", each.name},
                                {"state", to_string(each.state)},
                                {"reason", each.reason},
                                {"advice", each.advice}}));
    return found;
}

/// The GPU with the other side of the copies; null for host memory.
std::unique_ptr<opened_gpu> open_other(batch_options const& values, opened_gpu const& gpu) {
    if (values.between == "host")
        return nullptr;
    bool const is_inside = values.between == "inside";
    int const first_other = values.device == 0 ? 1 : 0;
    int const peer = values.peer < 0 ? first_other : values.peer;
    auto other = std::make_unique<opened_gpu>(is_inside ? values.device : peer);
    if (!is_inside) {
        constexpr char advice[] =
            "see `nvidia-smi topo -p2p r`, and give --peer one that it can access";
        cuda::enable_peer_access(gpu.device().ordinal(), peer, advice);
        cuda::enable_peer_access(peer, gpu.device().ordinal(), advice);
    }
    return other;
}

std::string title_of_other(batch_options const& values, opened_gpu const* other) {
    return values.between == "host"     ? "pinned host memory"
           : values.between == "inside" ? "inside it"
                                        : "and " + title_of(other->device());
}

int run(batch_options const& given) {
    constexpr std::size_t least_pool = 64 * KiB;
    batch_options values = given;
    if (values.pool < least_pool)
        throw usage_error("--pool of batch must be at least 64K");
    if (values.peer >= 0 && values.between != "peer")
        throw usage_error("--peer is for --between peer");
    if (values.between == "peer" && values.peer == values.device)
        throw usage_error("--peer must differ from --device: give --between inside for one GPU");
    if (values.beside == "copy" && values.between != "host")
        throw usage_error("--beside copy is for --between host");
    if (values.round_trips > 0 && values.between != "host")
        throw usage_error("--round-trips is for --between host");
    bool const table = values.check == 0 && values.round_trips == 0 && !values.ordered &&
                       !values.both && values.beside.empty();
    if (table)
        values.sizes = sizes_to_measure(values, 512);
    report out(values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    gpu_kernels const kernels(ptx::batch_kernels);
    auto const other = open_other(values, gpu);
    batch_bench const bench{out, gpu, kernels, values, other.get()};
    out.about(gpu.device());
    out.say(formatted("{}, {}\n\n", title_of(gpu.device()), title_of_other(values, other.get())));
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
    part(values.beside == "gemm", measure_beside_gemm);
    part(values.beside == "copy", measure_beside_copy);
    out.set("engines", reports_of(engine));
    return out.finish(good);
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
    app.add("--between", values->between,
            "other side of the copies: host (pinned host memory), peer (memory of another GPU) or "
            "inside (other memory of the same GPU)")
        .one_of({"host", "peer", "inside"})
        .named("NAME")
        .with_default();
    app.add("--peer", values->peer,
            "CUDA ordinal of the other GPU of --between peer; by default the first other GPU")
        .between(0, 1023);
    app.add("--direction", values->directions,
            "directions: to_cpu (with --between peer: to the peer), to_gpu (from it); by default "
            "both")
        .some_of({"to_cpu", "to_gpu"});
    app.add("--order", values->orders,
            "places of pieces on either side: random, contiguous; by default both")
        .some_of({"contiguous", "random"});
    app.add("--methods", values->methods,
            "methods to measure; by default all except one (a single cuMemcpyAsync of as many "
            "contiguous bytes, in contiguous order only)")
        .some_of([] {
            std::vector<std::string> names = batch_method_names();
            names.push_back("one");
            return names;
        }());
    app.add("--in-flight", values->in_flight,
            "batches of the table to submit before waiting for the first one")
        .between(1, 16)
        .with_default();
    add_size_option(
        app, "--pool", values->pool,
        "size of each of the four pools that pieces come from and go to, at least 64K; a batch "
        "takes at most a quarter of one");
    app.flag("--same", values->same, "copy the same pieces in each round of the table");
    app.flag("--both", values->both, "copy in both directions at once: GB/s of each and their sum");
    app.add("--beside", values->beside,
            "how much batches slow down large matrix products (gemm), or a CUDA copy of 4 KiB and "
            "the wait for it (copy)")
        .one_of({"gemm", "copy"})
        .named("NAME");
    app.flag(
        "--ordered", values->ordered,
        "time from the end of a kernel to the start of the next one, with a batch between them");
    app.add("--check", values->check,
            "verify this many batches of pieces with random sizes and places")
        .positive();
    app.add("--round-trips", values->round_trips,
            "verify this many: a kernel writes, two batches copy out and in, a kernel checks")
        .positive();
    app.add("--seed", values->seed,
            "seed of the random choices: the same seed makes the same choices")
        .between(0, UINT32_MAX)
        .with_default();
    add_output_options(app, *values);
    app.footer(
        {.remark =
             "The time includes submission and completion. It does not include the verification, "
             "which compares every method's bytes and those around and between the pieces. "
             "--both, --beside, --ordered, --check and --round-trips, alone or combined, replace "
             "the table. On a terminal, a line says how long the rest takes.",
         .exit_codes =
             {"0 every byte was right", "1 a byte was wrong, early or stale, or a method failed",
              "2 an option or argument is wrong, every batch is too large for --pool, or the file "
              "of --output cannot be written",
              "3 there is no GPU, no copy engine where one is needed, or no cuBLAS for --beside "
              "gemm; a driver call refused, or the output could not be written to stdout",
              "4 a batch did not end in time"},
         .examples = {"# The whole table, about a minute, and its plot",
                      "barmap batch --output batch.json && barmap plot batch.json -o batch.svg",
                      "# Blocks of 4 and 64 KiB, many at once",
                      "barmap batch --pool 1G --pieces 256,4096 --sizes 4K,64K --order random",
                      "# Between two GPUs, beside one contiguous copy",
                      "barmap batch --between peer --pool 1G --methods engine,batch,kernel32,one",
                      "# Beside a model's work",
                      "barmap batch --beside gemm --methods engine,batch,kernel32",
                      "# Correctness, for some minutes",
                      "barmap batch --check 100000 --round-trips 1000000"}});
    when_chosen(app, values, run);
}

} // namespace barmap::tool
