// SPDX-License-Identifier: MIT
#include "command/exit_codes.hpp"
#include "command/options.hpp"
#include "fresh/freshness.hpp"
#include "fresh/stale_loads.hpp"
#include "measure/gpu_kernels.hpp"
#include "measure/reached_memory.hpp"
#include "output/formatted.hpp"
#include "output/results.hpp"
#include "output/units.hpp"

#include <barmap/copy.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

namespace barmap::tool {
namespace {

struct fresh_options : options {
    std::size_t polls = 1'000'000;
    bool every_routine = false;
    bool demonstrate_stale = false;
};

constexpr std::size_t line = 64, largest = 4 * KiB;

// Short words wrap, so their counter is slowed down: 4000 cycles are more than 1.1 us on any GPU
// (none runs faster than 3.5 GHz), and 127 steps of one byte more than 140 us, while a poll takes
// about one. Longer words count as fast as the GPU can: a step is a store and a fence. On the
// simulated GPU it is a store and a load by a CPU, which no CPU does ten times in a nanosecond.
constexpr std::uint32_t slow_pace_cycles = 4000;
constexpr double slow_step_ns = 1100;
constexpr double fast_step_ns = 0.1;

/// How the words are read: through barmap, or as the demonstration does.
using poll = void (*)(std::span<std::byte>, window);
void read_fresh(std::span<std::byte> to, window from) {
    read(to, from);
}
void read_stale(std::span<std::byte> to, window from) {
    stale_load(to.data(), from.data, to.size());
}

struct fresh_outcome {
    freshness judged;
    std::uint64_t counted; ///< how far the kernel came (modulo the word)
    bool caught_up;        ///< a read after the kernel's end gave its last value
    [[nodiscard]] bool good(std::size_t polls) const {
        return judged.non_monotonic() == 0 && judged.distinct() >= fewest_distinct(polls) &&
               caught_up;
    }
    /// Reads that hardly ever change come from a buffer, and not from the GPU.
    [[nodiscard]] static std::size_t fewest_distinct(std::size_t polls) {
        return std::clamp<std::size_t>(polls / 100, 2, 10);
    }
};

class counter {
public:
    counter(opened_gpu const& gpu, options const& values)
        : simulated_(gpu.device().simulated()), reached_(reach(gpu, values, 2 * largest)),
          stop_(line) {
        gap_ = gap_to_multiple(reached_.mapping.data(), line);
    }

    [[nodiscard]] mapping& through() { return reached_.mapping; }
    fresh_outcome run(std::size_t bytes, std::size_t polls, poll read_words, progress& bar,
                      std::string const& title);

private:
    gpu_kernels kernels_;
    bool simulated_;
    reached_memory reached_;
    pinned_host stop_;
    std::size_t gap_ = 0;
};

fresh_outcome counter::run(std::size_t bytes, std::size_t polls, poll read_words, progress& bar,
                           std::string const& title) {
    constexpr double patience_s = 10;
    std::size_t const word_bytes = std::min<std::size_t>(bytes, 8);
    bool const slow = word_bytes <= 2;
    CUdeviceptr const address = reached_.memory.address() + gap_;
    fill_gpu(address, 0, bytes);
    *stop_.word() = 0;

    std::uint64_t const last = ~std::uint64_t{0};
    std::uint32_t const pace = slow ? slow_pace_cycles : 0;
    unsigned const threads = static_cast<unsigned>(bytes / word_bytes);

    fresh_outcome result{
        freshness(word_bytes, bytes / word_bytes, slow ? slow_step_ns : fast_step_ns), 0, false};
    // Polls follow each other with nothing in between, not even a look at the clock, whose fence
    // would hide what is looked for.
    std::size_t const burst = word_bytes == 1 ? 16 : 64; // short against half way round a byte
    std::vector<std::byte> buffer(burst * bytes);
    std::span<std::byte> const words = std::span(buffer).first(bytes);
    window const place = reached_.mapping.window(gap_, bytes);
    {
        running_kernel const kernel(
            kernels_.named("barmap_count"), 1, threads, [this](CUstream) { *stop_.word() = 1; },
            {address, static_cast<std::uint32_t>(bytes), last, stop_.gpu_address(), pace});
        // Polls that all precede the first step would judge nothing.
        clock::time_point const begin = clock::now();
        std::uint64_t first = 0;
        while (first == 0) {
            if (kernel.finished() || seconds_since(begin) > patience_s)
                throw gpu_timeout("the counting GPU kernel does not count: run `barmap check` to "
                                  "see whether its mapping is right");
            read(words, place);
            std::memcpy(&first, words.data(), word_bytes);
        }
        std::size_t const distinct = fresh_outcome::fewest_distinct(polls);
        for (std::size_t i = 0; i < polls || result.judged.distinct() < distinct; i += burst) {
            double const before = nanoseconds_since(begin);
            for (std::size_t k = 0; k < burst; ++k)
                read_words(std::span(buffer).subspan(k * bytes, bytes), place);
            double const after = nanoseconds_since(begin);
            for (std::size_t k = 0; k < burst; ++k)
                result.judged.see(std::span(buffer).subspan(k * bytes, bytes), before, after);
            if (i % 4096 != 0)
                continue;
            bar.reach(i, title);
            if (i >= polls && seconds_since(begin) > patience_s)
                break;
            if (simulated_)
                std::this_thread::yield(); // the kernel may need this very CPU
        }
        *stop_.word() = 1;
        kernel.wait(patience_s);
    }
    std::vector<std::byte> truth(bytes);
    read_gpu(truth, address);
    read_words(words, place);
    result.caught_up = std::equal(words.begin(), words.end(), truth.begin());
    std::memcpy(&result.counted, truth.data(), word_bytes);
    return result;
}

std::vector<std::string> routines_to_try(fresh_options const& values) {
    if (values.demonstrate_stale)
        return {std::string(stale_load_name())};
    if (!values.every_routine)
        return {values.routine};
    std::vector<std::string> names{"auto"};
    for (copy_routine_report const& routine : copy_routines())
        if (routine.supported)
            names.push_back(routine.name);
    return names;
}

std::string yes_or_no(json const& value) {
    return value.get<bool>() ? "yes" : "no";
}
std::string verdict_of(json const& passed) {
    return verdict(passed.get<bool>(), "");
}

int run(fresh_options const& given) {
    fresh_options values = given;
    if (values.sizes.empty())
        values.sizes = {1, 2, 4, 8, 16, 32, 64, 256};
    for (std::size_t const bytes : values.sizes)
        if (bytes > largest || (bytes & (bytes - 1)) != 0)
            throw usage_error("--sizes of fresh are powers of two up to 4K");
    if (values.demonstrate_stale && stale_load_name().empty())
        throw usage_error("--demonstrate-stale needs an x86 CPU with SSE4.1: leave it out here");

    report out(values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    counter counting(gpu, values);
    out.about(gpu.device(), counting.through().backend());
    measurement const what(
        "fresh",
        {column("size", "size", size_of), column("routine", "routine"), column("polls", "polls"),
         column("distinct", "distinct"), column("non-monotonic", "non_monotonic"),
         column("unjudged", "unjudged"), column("caught up", "caught_up", yes_or_no),
         column("", "passed", verdict_of)},
        formatted("{}, by {}\n", title_of(gpu.device()), counting.through().backend()), "");
    auto const poll_by = [&](results& into, std::string const& name, std::size_t bytes) {
        if (values.demonstrate_stale && bytes % stale_load_width() != 0)
            return;
        if (!values.demonstrate_stale && name != "auto")
            counting.through().use_copy_routine(name);
        progress bar(values.polls);
        fresh_outcome const found =
            counting.run(bytes, values.polls, values.demonstrate_stale ? read_stale : read_fresh,
                         bar, formatted("{} by {}", size_text(bytes), name));
        bool const good = found.good(values.polls);
        into.add(result_row({{"size", bytes},
                             {"routine", name},
                             {"polls", found.judged.polls()},
                             {"distinct", found.judged.distinct()},
                             {"non_monotonic", found.judged.non_monotonic()},
                             {"unjudged", found.judged.unjudged()},
                             {"caught_up", found.caught_up},
                             {"passed", good}}),
                 {}, good);
    };
    return out.finish(measure(out, what, every(routines_to_try(values), values.sizes), poll_by));
}

} // namespace

void add_fresh(command_line& program) {
    subcommand app = program.add(
        "fresh", "Poll a counter that a GPU kernel increments, for non-monotonic reads");
    auto values = std::make_shared<fresh_options>();
    add_target_options(app, *values);
    app.add("--sizes", values->sizes,
            "sizes to poll, powers of two up to 4K; by default 1,2,4,8,16,32,64,256")
        .bytes()
        .list()
        .named("SIZE,...");
    app.add("--iterations", values->polls, "polls per size").positive().with_default();
    app.flag("--every-routine", values->every_routine, "with every copy routine, not only one");
    app.flag("--every-kernel", values->every_routine, "the former name of --every-routine")
        .hidden();
    app.flag("--demonstrate-stale", values->demonstrate_stale,
             "read with unfenced streaming loads instead, which are known to be stale");
    add_output_options(app, *values);
    app.footer(
        {.remark = "A monotonic read never delivers a value that is older than an earlier read's. "
                   "In the table, \"distinct\" counts different values, \"unjudged\" counts polls "
                   "so far apart that a short counter may have wrapped around in between, and "
                   "\"caught up\" says whether a read after the kernel's end gave its last value.",
         .exit_codes =
             {"0 every read was monotonic",
              "1 a read was non-monotonic, values hardly ever changed, or the last one was stale",
              usage_help, unavailable_help, "4 the GPU kernel does not count"},
         .examples = {"# Every routine, fewer polls",
                      "barmap fresh --every-routine --iterations 100000"}});
    when_chosen(app, values, run);
}

} // namespace barmap::tool
