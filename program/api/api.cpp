// SPDX-License-Identifier: MIT
#include "api/process_resources.hpp"
#include "command/exit_codes.hpp"
#include "command/options.hpp"
#include "measure/gpu_memory.hpp"
#include "output/formatted.hpp"
#include "output/results.hpp"
#include "output/timing.hpp"
#include "output/units.hpp"

#include <barmap/mapping.hpp>
#include <barmap/pin.hpp>

#include <array>
#include <optional>

namespace barmap::tool {
namespace {

struct api_options : options {
    std::size_t cycles = 0;
};

/// The calls of one cycle, and the first two together.
constexpr std::array call_names{"pin", "map", "pin+map", "unmap", "unpin"};
using cycle_times = std::array<double, call_names.size()>; ///< nanoseconds

cycle_times cycle(device const& gpu, CUdeviceptr address, std::size_t bytes,
                  std::string const& backend) {
    pin held;
    mapping mapped;
    double const pinned =
        time_of(1, [&] { held = gpu.pin(std::uintptr_t{address}, bytes, {.backend = backend}); });
    double const mapping_took = time_of(1, [&] { mapped = held.map(); });
    double const unmapping_took = time_of(1, [&] { mapped = mapping(); });
    double const unpinned = time_of(1, [&] { held = pin(); });
    return {pinned, mapping_took, pinned + mapping_took, unmapping_took, unpinned};
}

/// @param size null where there is none
void add(results& into, std::string_view call, json size, samples const& taken) {
    into.add(result_row({{"call", call}, {"size", std::move(size)}}).with(taken.summarise()));
}
void add_once(results& into, std::string_view call, json size, double nanoseconds) {
    samples once;
    once.add(nanoseconds);
    add(into, call, std::move(size), once);
}

/// Opening: the first time with the driver's own start, then again from nothing.
void measure_open(results& into, options const& values) {
    constexpr int times = 20;
    add_once(into, "load driver, cuInit", nullptr, time_of(1, [] { (void)cuda::api(); }));
    // Else the context's creation and destruction would be a part of each opening.
    CUdevice handle = 0;
    cuda::check(cuda::api().device_get(&handle, values.device), "open the GPU");
    cuda::primary_context const keep = cuda::primary_context::retain(handle);
    std::optional<device> gpu;
    auto const open = [&] { return time_of(1, [&] { gpu.emplace(device::open(values.device)); }); };
    add_once(into, "open, first", nullptr, open());
    samples again;
    for (int i = 0; i < times; ++i) {
        gpu.reset();
        again.add(open());
    }
    add(into, "open, again", nullptr, again);
}

void tell_backend_starts(results& into, device const& gpu) {
    for (backend_report const& found : gpu.backends())
        if (found.state == backend_state::usable)
            add_once(into, "start backend " + found.name, nullptr, found.start_us * 1000);
}

/// The first mapping, which measures the copy routines too.
void measure_first_map(results& into, report& out, opened_gpu const& gpu, options const& values) {
    gpu_memory const memory = gpu_memory::named(values.memory, gpu, 64 * KiB);
    pin const held = gpu.device().pin(std::uintptr_t{memory.address()}, memory.size(),
                                      {.backend = values.backend});
    out.about(gpu.device(), held.backend());
    add_once(into, "map, first", memory.size(), time_of(1, [&] { (void)held.map(); }));
}

void measure_size(results& into, opened_gpu const& gpu, options const& values, std::size_t bytes) {
    gpu_memory const memory = gpu_memory::named(values.memory, gpu, bytes);
    std::array<samples, call_names.size()> taken;
    for (repetitions rounds(values.iterations, values.budget_s); rounds.next();) {
        cycle_times const times = cycle(gpu.device(), memory.address(), bytes, values.backend);
        for (std::size_t i = 0; i < times.size(); ++i)
            taken[i].add(times[i]);
    }
    for (std::size_t i = 0; i < taken.size(); ++i)
        add(into, call_names[i], bytes, taken[i]);
}

/// @return whether nothing was left behind
bool run_cycles(report& out, opened_gpu const& gpu, api_options const& values) {
    constexpr std::size_t bytes = 64 * KiB, settling = 100;
    gpu_memory const memory = gpu_memory::named(values.memory, gpu, bytes);
    auto const once = [&] { (void)cycle(gpu.device(), memory.address(), bytes, values.backend); };
    for (std::size_t i = 0; i < settling; ++i)
        once();
    process_resources const before = process_resources::now();
    bar1_info const bar1_before = gpu.device().bar1();
    progress bar(values.cycles);
    for (std::size_t i = 0; i < values.cycles; ++i) {
        bar.reach(i, "pin, map, unmap, unpin");
        once();
    }
    process_resources const after = process_resources::now();
    bar1_info const bar1_after = gpu.device().bar1();
    bool const kept = before.leaves_as_much(after) && bar1_before.available == bar1_after.available;
    struct {
        char const *text, *member;
        std::uint64_t was, is;
    } const all[]{
        {"file descriptors", "fds", before.file_descriptors, after.file_descriptors},
        {"mappings of devices and files", "device_mappings", before.device_mappings,
         after.device_mappings},
        {"all mappings", "mappings", before.mappings, after.mappings},
        {"free BAR1, bytes", "bar1_available", bar1_before.available, bar1_after.available}};
    json row = object({{"measurement", "cycles"}, {"cycles", values.cycles}, {"size", bytes}});
    table rows({formatted("after {} cycles", values.cycles), "before", "after"});
    for (auto const& [text, member, was, is] : all) {
        row[member] = {was, is};
        rows.row({text, std::to_string(was), std::to_string(is)});
    }
    row["leak"] = !kept;
    out.add(std::move(row));
    out.say(rows.text() + (kept ? "nothing was left behind\n" : "FAILED: something was left\n"));
    return kept;
}

int run(api_options const& values) {
    report out(values);
    std::vector<std::size_t> const sizes = sizes_to_measure(values, 64 * KiB);
    progress bar(sizes.size());
    measurement const what("api",
                           {column("call", "call"), column("size", "size", size_of), us("min"),
                            us("p50"), us("p99"), column("samples", "samples")},
                           "", "");
    results found(out, what, &bar);
    measure_open(found, values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    tell_backend_starts(found, gpu.device());
    measure_first_map(found, out, gpu, values);
    found.each(every(sizes), [&](results& into, std::size_t bytes) {
        into.now(size_text(bytes));
        measure_size(into, gpu, values, bytes);
    });
    found.tell();
    return out.finish(values.cycles == 0 || run_cycles(out, gpu, values));
}

} // namespace

void add_api(command_line& program) {
    subcommand app = program.add("api", "Measure open, pin, map, unmap and unpin");
    auto values = std::make_shared<api_options>();
    values->max = GiB;
    values->budget_s = 0.3;
    add_target_options(app, *values);
    add_measuring_options(app, *values);
    app.add("--cycles", values->cycles,
            "also run that many cycles of pin, map, unmap and unpin, and look for leaks: open file "
            "descriptors, mappings of the process, free BAR1")
        .positive();
    add_output_options(app, *values);
    app.footer(
        {.remark =
             "Operations under 1 us are timed 64 at a time (operations_per_sample in the JSON).",
         .exit_codes = {"0 done, and nothing was left behind", "1 the cycles left something behind",
                        usage_help, unavailable_help},
         .examples = {"# Costs up to 64 MiB", "barmap api --max 64M", "# Looking for leaks",
                      "barmap api --max 64K --cycles 10000"}});
    when_chosen(app, values, run);
}

} // namespace barmap::tool
