// SPDX-License-Identifier: MIT
#include "api/process_resources.hpp"
#include "measure/gpu_memory.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/report.hpp"
#include "output/table.hpp"
#include "output/timing.hpp"
#include "output/units.hpp"
#include "command/exit_codes.hpp"
#include "command/options.hpp"

#include <barmap/mapping.hpp>
#include <barmap/pin.hpp>

#include <optional>

namespace barmap::tool {
namespace {

struct api_options : options {
    std::size_t cycles = 0;
};

/// The four calls of one pin, map, unmap, unpin cycle, each timed.
struct cycle_times {
    double pin_ns, map_ns, unmap_ns, unpin_ns;
};

cycle_times cycle(device const& gpu, CUdeviceptr address, std::size_t bytes,
                  std::string const& backend) {
    cycle_times times{};
    pin held;
    mapping mapped;
    times.pin_ns = time_of(
        1, [&] { held = gpu.pin(std::uintptr_t{address}, bytes, {.backend = backend}); });
    times.map_ns = time_of(1, [&] { mapped = held.map(); });
    times.unmap_ns = time_of(1, [&] { mapped = mapping(); });
    times.unpin_ns = time_of(1, [&] { held = pin(); });
    return times;
}

void put_row(report& out, table& rows, std::string_view call, std::size_t bytes,
             samples const& taken) {
    summary const times = taken.summarise();
    json row;
    row["measurement"] = "api";
    row["call"] = call;
    row["size"] = bytes ? json(bytes) : json(nullptr);
    put(row, times);
    out.add(std::move(row));
    rows.row({std::string(call), bytes ? size_text(bytes) : "", microseconds(times.min_ns),
              microseconds(times.p50_ns), microseconds(times.p99_ns),
              std::to_string(times.samples)});
}

/// Opening: the first time with the driver's own start, then again from nothing.
void measure_open(report& out, table& rows, options const& values) {
    constexpr int times = 20;
    samples load, first, again;
    load.add(time_of(1, [] { (void)cuda::api(); }));
    put_row(out, rows, "load driver, cuInit", 0, load);
    {
        // Else the context's creation and destruction would be a part of each opening.
        CUdevice handle = 0;
        cuda::check(cuda::api().device_get(&handle, values.device), "open the GPU");
        cuda::primary_context const keep = cuda::primary_context::retain(handle);
        std::optional<device> gpu;
        first.add(time_of(1, [&] { gpu.emplace(device::open(values.device)); }));
        for (int i = 0; i < times; ++i) {
            gpu.reset();
            again.add(time_of(1, [&] { gpu.emplace(device::open(values.device)); }));
        }
    }
    put_row(out, rows, "open, first", 0, first);
    put_row(out, rows, "open, again", 0, again);
}

void tell_backend_starts(report& out, table& rows, device const& gpu) {
    for (backend_report const& found : gpu.backends()) {
        if (found.state != backend_state::usable)
            continue;
        samples start;
        start.add(found.start_us * 1000);
        put_row(out, rows, "start backend " + found.name, 0, start);
    }
}

void measure_size(report& out, table& rows, opened_gpu const& gpu, options const& values,
                  std::size_t bytes) {
    gpu_memory const memory = gpu_memory::named(values.memory, gpu, bytes);
    samples pins, maps, pin_and_maps, unmaps, unpins;
    for (repetitions rounds(values.iterations, values.budget_s); rounds.next();) {
        cycle_times const times = cycle(gpu.device(), memory.address(), bytes, values.backend);
        pins.add(times.pin_ns);
        maps.add(times.map_ns);
        pin_and_maps.add(times.pin_ns + times.map_ns);
        unmaps.add(times.unmap_ns);
        unpins.add(times.unpin_ns);
    }
    put_row(out, rows, "pin", bytes, pins);
    put_row(out, rows, "map", bytes, maps);
    put_row(out, rows, "pin+map", bytes, pin_and_maps);
    put_row(out, rows, "unmap", bytes, unmaps);
    put_row(out, rows, "unpin", bytes, unpins);
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
    out.add(
        object({{"measurement", "cycles"},
                {"cycles", values.cycles},
                {"size", bytes},
                {"fds", json::array({before.file_descriptors, after.file_descriptors})},
                {"device_mappings", json::array({before.device_mappings, after.device_mappings})},
                {"mappings", json::array({before.mappings, after.mappings})},
                {"bar1_available", json::array({bar1_before.available, bar1_after.available})},
                {"leak", !kept}}));
    table rows({formatted("after {} cycles", values.cycles), "before", "after"});
    auto const row = [&](char const* what, std::uint64_t was, std::uint64_t is) {
        rows.row({what, std::to_string(was), std::to_string(is)});
    };
    row("file descriptors", before.file_descriptors, after.file_descriptors);
    row("mappings of devices and files", before.device_mappings, after.device_mappings);
    row("all mappings", before.mappings, after.mappings);
    row("free BAR1, bytes", bar1_before.available, bar1_after.available);
    out.say(rows.text() + (kept ? "nothing was left behind\n" : "FAILED: something was left\n"));
    return kept;
}

int run(api_options const& values) {
    report out(values);
    table rows({"call", "size", "min us", "p50 us", "p99 us", "samples"});
    measure_open(out, rows, values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    tell_backend_starts(out, rows, gpu.device());
    {
        // The first mapping measures the copy routines too.
        gpu_memory const memory = gpu_memory::named(values.memory, gpu, 64 * KiB);
        samples first;
        std::optional<pin> const held = gpu.device().pin(
            std::uintptr_t{memory.address()}, memory.size(), {.backend = values.backend});
        out.about(gpu.device(), held->backend());
        first.add(time_of(1, [&] { (void)held->map(); }));
        put_row(out, rows, "map, first", memory.size(), first);
    }
    std::vector<std::size_t> const sizes = sizes_to_measure(values, 64 * KiB);
    {
        progress bar(sizes.size());
        for (std::size_t const bytes : sizes) {
            bar.step(size_text(bytes));
            measure_size(out, rows, gpu, values, bytes);
        }
    }
    out.say(rows.text());
    bool const kept = values.cycles == 0 || run_cycles(out, gpu, values);
    out.finish();
    return kept ? exit_ok : exit_failed;
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
