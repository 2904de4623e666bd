// SPDX-License-Identifier: MIT
#include "exit_codes.hpp"
#include "formatted.hpp"
#include "gpu_kernels.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "reached_memory.hpp"
#include "report.hpp"
#include "table.hpp"
#include "units.hpp"

#include <barmap/copy.hpp>

#include <array>
#include <cstring>

namespace barmap::tool {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t answer_offset = 4 * KiB; ///< of the answer, where it lies in GPU memory
constexpr double patience_s = 10;

enum class store { post_word, post_line, write };
enum class answer { in_host_memory, through_mapping };

struct variant {
    std::string_view name;
    store doorbell;
    answer reply;
};

constexpr variant variants[] = {
    {"post word", store::post_word, answer::in_host_memory},
    {"post line", store::post_line, answer::in_host_memory},
    {"write", store::write, answer::in_host_memory},
    {"post word", store::post_word, answer::through_mapping},
};

std::string_view name_of(answer reply) {
    return reply == answer::in_host_memory ? "host memory" : "mapping";
}

void ring(window bell, store how, std::uint64_t value) {
    switch (how) {
    case store::post_word:
        post(bell, value);
        break;
    case store::post_line: {
        std::array<std::byte, line> content{};
        std::memcpy(content.data(), &value, sizeof value);
        post_line(bell, content);
        break;
    }
    case store::write:
        write_value(bell, value);
        break;
    }
}

struct played {
    samples times;
    std::size_t late = 0; ///< doorbells that left only with a flush
};

/// The memory and kernels that all variants share.
class table_of_pingpong {
public:
    table_of_pingpong(opened_gpu const& gpu, options const& values)
        : reached_(reach(gpu, values, 64 * KiB)), host_(line) {
        std::size_t const gap =
            -reinterpret_cast<std::uintptr_t>(reached_.mapping.data()) & (line - 1);
        bell_ = reached_.mapping.window(gap, line);
        reply_ = reached_.mapping.window(gap + answer_offset, line);
        bell_address_ = reached_.memory.address() + gap;
    }

    played play(variant const& how, std::size_t rounds, progress& bar);
    [[nodiscard]] mapping const& through() const { return reached_.mapping; }

private:
    [[nodiscard]] std::uint64_t look(answer where) const {
        return where == answer::in_host_memory ? *host_.word() : read_value<std::uint64_t>(reply_);
    }

    gpu_kernels kernels_;
    reached_memory reached_;
    pinned_host host_;
    window bell_{}, reply_{};
    CUdeviceptr bell_address_ = 0;
};

played table_of_pingpong::play(variant const& how, std::size_t rounds, progress& bar) {
    constexpr std::size_t warm_up = 100;
    constexpr unsigned spins_until_flush = 100'000;
    cuda::driver_api const& cu = cuda::api();
    cuda::check(cu.memset_d8(bell_address_, 0, answer_offset + line), "clear the doorbell");
    cuda::check(cu.ctx_synchronize(), "clear the doorbell");
    *host_.word() = 0;

    CUdeviceptr answer_address =
        how.reply == answer::in_host_memory ? host_.gpu_address() : bell_address_ + answer_offset;
    std::uint64_t all = rounds + warm_up;
    std::array<void*, 3> arguments{&bell_address_, &answer_address, &all};
    std::uint64_t const stop = doorbell_stop;
    running_kernel const kernel(
        kernels_.named("barmap_pingpong"), 1, 1, arguments.data(), [&](CUstream control) {
            cu.memcpy_htod_async(bell_address_, &stop, sizeof stop, control);
        });

    played result;
    for (std::uint64_t round = 1; round <= all; ++round) {
        clock::time_point const begin = clock::now();
        ring(bell_, how.doorbell, round);
        unsigned spins = 0;
        while (look(how.reply) != round) {
            if (++spins % spins_until_flush != 0)
                continue;
            // A posted word may wait in the CPU where there are no direct stores.
            if (spins == spins_until_flush && how.doorbell != store::write) {
                flush_stores();
                ++result.late;
            }
            if (seconds_since(begin) > patience_s)
                throw gpu_timeout(formatted(
                    "the GPU did not answer doorbell {} ({}, answer in {}) within {} s: run "
                    "`barmap check` to see whether its mapping is right",
                    round, how.name, name_of(how.reply), patience_s));
        }
        double const elapsed = nanoseconds_since(begin) - clock_cost_ns();
        if (round > warm_up)
            result.times.add(elapsed);
        if (round % 1024 == 0)
            bar.reach(round, formatted("{}, answer in {}", how.name, name_of(how.reply)));
    }
    kernel.wait(patience_s);
    return result;
}

int run(options const& values) {
    report out(values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    table_of_pingpong game(gpu, values);
    out.about(gpu.device(), game.through().backend());
    std::size_t const rounds = values.iterations          ? values.iterations
                               : gpu.device().simulated() ? 2000
                                                          : 100'000;
    table rows({"doorbell", "answer in", "min us", "p50 us", "p99 us", "rounds"});
    for (variant const& how : variants) {
        progress bar(rounds);
        played const found = game.play(how, rounds, bar);
        summary const times = found.times.summarise();
        json row;
        row["measurement"] = "pingpong";
        row["doorbell"] = how.name;
        row["answer_in"] = name_of(how.reply);
        put(row, times);
        row["flushed_late"] = found.late;
        out.add(std::move(row));
        rows.row({std::string(how.name), std::string(name_of(how.reply)),
                  microseconds(times.min_ns), microseconds(times.p50_ns),
                  microseconds(times.p99_ns), std::to_string(times.samples)});
    }
    out.say(formatted("{}{}, {} memory by {}\n{}", gpu.device().name(),
                      gpu.device().simulated() ? " (simulated GPU)" : "", values.memory,
                      game.through().backend(), rows.text()));
    out.finish();
    return exit_ok;
}

} // namespace

void add_pingpong(command_line& program) {
    subcommand app = program.add(
        "pingpong", "Round trip: the CPU rings a doorbell in GPU memory, a GPU kernel answers");
    auto values = std::make_shared<options>();
    add_target_options(app, *values);
    app.add("--iterations", values->iterations, "rounds; default 100000 (2000 simulated)")
        .positive();
    add_output_options(app, *values);
    app.footer("Exits 4 if the GPU does not answer within 10 s.");
    when_chosen(app, values, run);
}

} // namespace barmap::tool
