// SPDX-License-Identifier: MIT
#include "command/exit_codes.hpp"
#include "command/options.hpp"
#include "measure/doorbell.hpp"
#include "output/formatted.hpp"
#include "output/results.hpp"

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
    measurement const what("pingpong",
                           {column("doorbell", "doorbell"), column("answer in", "answer_in"),
                            us("min"), us("p50"), us("p99"), column("rounds", "samples")},
                           formatted("{}, {} memory by {}\n", title_of(gpu.device()), values.memory,
                                     bell.through().backend()),
                           "");
    measure(out, what, every(doorbell_variants), [&](results& into, doorbell_variant const& how) {
        progress bar(rounds);
        played const found = play(bell, how, rounds, bar);
        into.add(result_row({{"doorbell", how.name}, {"answer_in", how.name_of_answer()}})
                     .with(found.times.summarise())
                     .has("flushed_late", found.late));
    });
    return out.finish();
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
