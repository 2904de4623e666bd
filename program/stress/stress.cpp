// SPDX-License-Identifier: MIT
#include "measure/pattern.hpp"
#include "measure/reached_memory.hpp"
#include "measure/usable_engines.hpp"
#include "measure/verify_copies.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/report.hpp"
#include "output/units.hpp"
#include "command/exit_codes.hpp"
#include "command/options.hpp"
#include "stress/engine_hammers.hpp"
#include "stress/stress_engines.hpp"

#include <barmap/copy.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <thread>
#include <vector>

namespace barmap::tool {
namespace {

/// One thread's part of the GPU memory, and what must be in it.
class worker {
public:
    /// @param at where its part begins in the mapping
    worker(device const& gpu, CUdeviceptr address, mapping const& through, std::size_t at,
           std::size_t region, std::string const& backend, std::uint64_t seed)
        : gpu_(gpu), address_(address), through_(through), at_(at),
          shared_(through.window(at, region)), backend_(backend), random_(seed), expected_(region),
          buffer_(region), pinned_(host_memory_kind::pinned, region) {
        fill_pattern(expected_, seed, 0);
        write(shared_, expected_);
    }

    void run(std::size_t operations);

    std::vector<std::byte> const& expected() const { return expected_; }
    std::string const& problem() const { return problem_; }
    std::atomic<std::size_t> done{0};
    std::atomic<bool> ended{false};

private:
    struct place {
        std::size_t at, length;
    };

    place anywhere() {
        auto const bits = static_cast<unsigned>(std::bit_width(shared_.size) - 1);
        std::size_t const length = random_length(bits - 1, random_);
        return {random_() % (shared_.size - length + 1), length};
    }

    void work(std::size_t operations);
    void write_some(window through, std::size_t shift, place where);
    void read_some(window through, std::size_t shift, place where, char const* what);
    void post_some();
    void map_some();
    void copy_some();

    device const& gpu_;
    CUdeviceptr address_;
    mapping const& through_;
    std::size_t at_;
    window shared_;
    std::string const& backend_;
    std::mt19937_64 random_;
    std::vector<std::byte> expected_, buffer_;
    touched_host pinned_;
    std::string problem_;
};

/// @param shift where in this worker's region the window starts
void worker::write_some(window through, std::size_t shift, place where) {
    std::span<std::byte> const fresh = std::span(expected_).subspan(where.at, where.length);
    fill_pattern(fresh, random_(), 0);
    write(through.subwindow(where.at - shift, where.length), fresh);
}

void worker::read_some(window through, std::size_t shift, place where, char const* what) {
    std::span<std::byte> const seen = std::span(buffer_).first(where.length);
    read(seen, through.subwindow(where.at - shift, where.length));
    if (!std::equal(seen.begin(), seen.end(),
                    expected_.begin() + static_cast<std::ptrdiff_t>(where.at)))
        problem_ = formatted("{}: {} bytes at {} are wrong", what, where.length, where.at);
}

void worker::post_some() {
    constexpr std::size_t line = 64;
    std::size_t const gap = gap_to_multiple(shared_.data, line);
    std::size_t const at = gap + random_() % ((shared_.size - gap) / line) * line;
    std::span<std::byte, line> const target(expected_.data() + at, line);
    if (random_() % 2) {
        fill_pattern(target, random_(), 0);
        post_line(shared_.subwindow(at, line), target);
    } else {
        std::uint64_t const word = random_();
        std::memcpy(target.data(), &word, sizeof word);
        post(shared_.subwindow(at, line), word);
    }
    flush_stores();
    read_some(shared_, 0, {at, line}, "after a post");
}

/// A separate pin and mapping over a part of the region, for a write and a read.
void worker::map_some() {
    place const part = anywhere();
    pin const held =
        gpu_.pin(std::uintptr_t{address_ + part.at}, part.length, {.backend = backend_});
    mapping const through = held.map();
    read_some(through.window(), part.at, part, "through a new mapping");
    write_some(through.window(), part.at, part);
    if (problem_.empty())
        read_some(shared_, 0, part, "written through a new mapping");
}

/// Adaptive copies, which others' stores and loads through the same mapping surround.
void worker::copy_some() {
    place const where = anywhere();
    std::span<std::byte> const expected = std::span(expected_).subspan(where.at, where.length);
    bool const from_pinned = random_() % 2;
    std::span<std::byte> const host =
        (from_pinned ? pinned_.bytes() : std::span(buffer_)).first(where.length);
    if (random_() % 2) {
        fill_pattern(expected, random_(), 0);
        std::copy(expected.begin(), expected.end(), host.begin());
        through_.copy_to_gpu(at_ + where.at, host);
        return;
    }
    through_.copy_to_cpu(host, at_ + where.at);
    if (!std::equal(host.begin(), host.end(), expected.begin()))
        problem_ = formatted("copied adaptively: {} bytes at {} are wrong", where.length, where.at);
}

void worker::run(std::size_t operations) {
    try {
        work(operations);
    } catch (std::exception const& failure) {
        problem_ = failure.what();
    }
    ended = true;
}

void worker::work(std::size_t operations) {
    for (std::size_t i = 0; i < operations && problem_.empty(); ++i) {
        switch (random_() % 20) {
        case 0:
            map_some();
            break;
        case 1:
        case 2:
        case 3:
            post_some();
            break;
        case 4:
        case 5:
            copy_some();
            break;
        case 6:
        case 7:
        case 8:
        case 9:
        case 10:
        case 11:
            write_some(shared_, 0, anywhere());
            break;
        default:
            read_some(shared_, 0, anywhere(), "read");
        }
        done.store(i + 1, std::memory_order_relaxed);
    }
}

int run(stress_options const& values) {
    if (values.region < 4 * KiB)
        throw usage_error("--region is at least 4K");
    report out(values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    reached_memory const target = reach(gpu, values, values.region * values.threads);
    out.about(gpu.device(), target.mapping.backend());

    std::vector<std::unique_ptr<worker>> workers;
    for (unsigned i = 0; i < values.threads; ++i)
        workers.push_back(std::make_unique<worker>(
            gpu.device(), target.memory.address() + i * values.region, target.mapping,
            i * values.region, values.region, values.backend, values.seed + i));
    clock::time_point const begin = clock::now();
    {
        std::vector<std::thread> threads; // they have no CUDA context, on purpose
        for (auto& one : workers)
            threads.emplace_back([&one, &values] { one->run(values.operations); });
        progress bar(values.operations * values.threads);
        for (bool all_ended = false; !all_ended;) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            std::size_t done = 0;
            all_ended = true;
            for (auto& one : workers) {
                done += one->done.load(std::memory_order_relaxed);
                all_ended &= one->ended.load();
            }
            bar.reach(done, "mixed operations");
        }
        for (std::thread& thread : threads)
            thread.join();
    }
    double const elapsed = seconds_since(begin);

    bool good = true;
    for (unsigned i = 0; i < values.threads; ++i) {
        std::string problem = workers[i]->problem();
        std::vector<std::byte> truth(values.region);
        read_gpu(truth, target.memory.address() + i * values.region);
        if (problem.empty() && truth != workers[i]->expected())
            problem = "the driver finds other bytes at the end";
        good &= problem.empty();
        out.add(object({{"measurement", "stress"},
                        {"thread", i},
                        {"operations", workers[i]->done.load()},
                        {"passed", problem.empty()},
                        {"problem", or_null(problem)}}));
        if (!problem.empty())
            out.say(formatted("thread {}: FAILED: {}\n", i, problem));
    }
    out.say(formatted("{} threads x {} operations in {:.1f} s by {}: {}\n", values.threads,
                      values.operations, elapsed, target.mapping.backend(),
                      good ? "every byte right" : "FAILED"));
    good &= stress_engines(out, gpu, values);
    return out.finish(good);
}

} // namespace

void add_stress(command_line& program) {
    subcommand app =
        program.add("stress", "Run mixed operations in many threads, verifying every byte");
    auto values = std::make_shared<stress_options>();
    values->threads = 8;
    add_target_options(app, *values);
    add_threads_option(app, *values, "threads");
    app.add("--iterations", values->operations, "operations per thread").positive().with_default();
    add_size_option(app, "--region", values->region, "GPU memory of each thread, from 4K on");
    app.add("--pieces", values->pieces,
            "pieces of random size and place that each copy engine then copies, the second half of "
            "them while cuMemcpy keeps the PCIe link busy both ways (0: none)")
        .between(0, most_engine_copies)
        .with_default();
    app.add("--pairs", values->pairs,
            "pairs of a write through the mapping and a read by each copy engine, and as many in "
            "the other order (0: none)")
        .between(0, most_engine_copies)
        .with_default();
    app.add("--seed", values->seed,
            "seed of the random choices: the same seed makes the same choices")
        .between(0, std::numeric_limits<std::uint64_t>::max())
        .with_default();
    add_output_options(app, *values);
    app.footer(
        {.remark =
             "The threads have no CUDA context. An engine that cannot hold memory of the kind "
             "asked for copies memory that barmap allocates.",
         .exit_codes = {"0 every byte was right", "1 a byte was wrong, or a call failed",
                        usage_help, unavailable_help},
         .examples = {"# A short run", "barmap stress --threads 4 --iterations 10000",
                      "# Another order", "barmap stress --seed 7",
                      "# Mainly the copy engines, for some minutes",
                      "barmap stress --iterations 1000 --pieces 20000000 --pairs 1000000"}});
    when_chosen(app, values, run);
}

} // namespace barmap::tool
