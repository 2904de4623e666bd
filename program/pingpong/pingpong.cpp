// SPDX-License-Identifier: MIT
#include "measure/doorbell.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/report.hpp"
#include "output/table.hpp"
#include "output/units.hpp"
#include "command/exit_codes.hpp"
#include "command/options.hpp"

namespace barmap::tool {
namespace {

struct played {
    samples times;
    std::size_t late = 0; ///< doorbells that left only with a flush
};

played play(doorbell& bell, doorbell_variant const& how, std::size_t rounds, progress& bar) {
    constexpr std::size_t warm_up = 100;
    std::size_t const all = rounds + warm_up;
    doorbell_rounds game(bell, how, all);
    played result;
    for (std::size_t round = 1; round <= all; ++round) {
        double const elapsed = game.play();
        if (round > warm_up)
            result.times.add(elapsed);
        if (round % 1024 == 0)
            bar.reach(round, formatted("{}, answer in {}", how.name, how.name_of_answer()));
    }
    game.wait();
    result.late = game.late();
    return result;
}

int measure_round_trips(options const& values) {
    report out(values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    doorbell bell(gpu, values);
    out.about(gpu.device(), bell.through().backend());
    std::size_t const rounds = values.iterations          ? values.iterations
                               : gpu.device().simulated() ? 2000
                                                          : 100'000;
    table rows({"doorbell", "answer in", "min us", "p50 us", "p99 us", "rounds"});
    for (doorbell_variant const& how : doorbell_variants) {
        progress bar(rounds);
        played const found = play(bell, how, rounds, bar);
        summary const times = found.times.summarise();
        json row;
        row["measurement"] = "pingpong";
        row["doorbell"] = how.name;
        row["answer_in"] = how.name_of_answer();
        put(row, times);
        row["flushed_late"] = found.late;
        out.add(std::move(row));
        rows.row({std::string(how.name), std::string(how.name_of_answer()),
                  microseconds(times.min_ns), microseconds(times.p50_ns),
                  microseconds(times.p99_ns), std::to_string(times.samples)});
    }
    out.say(formatted("{}, {} memory by {}\n{}", title_of(gpu.device()), values.memory,
                      bell.through().backend(), rows.text()));
    out.finish();
    return exit_ok;
}

} // namespace

void add_pingpong(command_line& program) {
    subcommand app =
        program.add("pingpong", "Measure round trips between the CPU and a GPU kernel");
    auto values = std::make_shared<options>();
    add_target_options(app, *values);
    app.add("--iterations", values->iterations,
            "rounds of each variant; by default 100,000, or 2,000 on a simulated GPU")
        .positive();
    add_output_options(app, *values);
    app.footer({.remark = "The CPU rings a doorbell in GPU memory through the mapping, a running "
                          "GPU kernel answers, "
                          "and the CPU polls for the answer.",
                .exit_codes = {"0 done", usage_help, unavailable_help,
                               "4 the GPU did not answer within 10 s"},
                .examples = {"# Ten thousand rounds of each variant",
                             "barmap pingpong --iterations 10000"}});
    when_chosen(app, values, measure_round_trips);
}

} // namespace barmap::tool
