// SPDX-License-Identifier: MIT
#include "command/exit_codes.hpp"
#include "command/options.hpp"
#include "info/summary.hpp"
#include "output/formatted.hpp"
#include "output/machine.hpp"
#include "output/report.hpp"
#include "output/table.hpp"
#include "output/units.hpp"

#include "cuda/driver_api.hpp"

#include <barmap/device.hpp>
#include <barmap/error.hpp>
#include <barmap/kernel_queue.hpp>
#include <barmap/report.hpp>

namespace barmap::tool {
namespace {

json to_json(backend_report const& found, json const& gpu) {
    json row;
    row["kind"] = "backend";
    row["gpu"] = gpu;
    row["name"] = found.name;
    row["state"] = to_string(found.state);
    row["reason"] = found.reason;
    row["advice"] = found.advice;
    row["allocates"] = found.allocates;
    row["events"] = found.events;
    row["start_us"] = found.start_us;
    row["kinds"] = json::array();
    for (memory_kind_report const& each : found.kinds)
        row["kinds"].push_back(object(
            {{"memory", to_string(each.kind)}, {"usable", each.usable}, {"reason", each.reason}}));
    return row;
}

/// All that was found out: what --verbose prints, and the parts of the JSON beside its rows.
struct details {
    std::string text = "\n";
    json engines = json::array();
    json batches = json::array();
    json crossovers = json::array();
};

/// The kinds of memory that each usable backend maps, with the method that finds them, or the
/// reason why not.
void tell_kinds(details& all, std::vector<backend_report> const& backends) {
    table lines({"  maps", "memory", "here", "backend, or why none"});
    lines.left_from(1);
    for (backend_report const& found : backends)
        for (memory_kind_report const& each : found.kinds)
            lines.row({"  " + found.name, std::string(to_string(each.kind)),
                       each.usable ? "yes" : "no", each.reason});
    all.text += lines.text() + "\n";
}

void tell_backends(report& out, details& all, std::vector<backend_report> const& backends,
                   json const& gpu) {
    table lines({"  backend", "state", "start ms", "allocates", "why"});
    lines.left_from(3);
    for (backend_report const& found : backends) {
        out.add(to_json(found, gpu));
        lines.row({"  " + found.name, std::string(to_string(found.state)),
                   formatted("{:.2f}", found.start_us / 1000), found.allocates ? "yes" : "no",
                   found.reason});
        if (!found.advice.empty())
            lines.row({"", "", "", "", "-> " + found.advice});
    }
    all.text += lines.text() + "\n";
    tell_kinds(all, backends);
}

json to_json(engine_report const& found, json const& gpu) {
    json row;
    row["gpu"] = gpu;
    row["name"] = found.name;
    row["state"] = to_string(found.state);
    row["reason"] = found.reason;
    row["advice"] = found.advice;
    row["start_us"] = found.start_us;
    row["copies"] = found.copies;
    row["bytes"] = found.bytes;
    row["failures"] = found.failures;
    return row;
}

/// @param what they copy, the first column's heading
void tell_engines(details& all, char const* what, std::vector<engine_report> const& engines,
                  json const& gpu, json& rows) {
    table lines({what, "state", "start ms", "why"});
    lines.left_from(3);
    for (engine_report const& found : engines) {
        rows.push_back(to_json(found, gpu));
        lines.row({"  " + found.name, std::string(to_string(found.state)),
                   formatted("{:.2f}", found.start_us / 1000), found.reason});
        if (!found.advice.empty())
            lines.row({"", "", "", "-> " + found.advice});
    }
    all.text += lines.text() + "\n";
}

/// The engines for batches: the first that works, and those before it that do not.
std::vector<engine_report> batch_engines(device const& gpu) {
    try {
        return gpu.batch_queue().reports();
    } catch (error const& failure) {
        engine_report none;
        none.name = "none";
        none.reason = failure.code().message();
        none.advice = failure.advice();
        return {none};
    }
}

/// Whether kernels can submit copies, and if not, why.
kernel_copies find_kernel_copies(device const& gpu) {
    try {
        kernel_queue const made(gpu);
        return {true, made.is_rung_by_cpu() ? "the CPU rings the doorbell (BARMAP_DOORBELL=cpu)"
                                            : "by a doorbell that is mapped for them"};
    } catch (error const& failure) {
        return {false, failure.what()};
    }
}

std::vector<found_crossovers> measure_crossovers(device const& gpu,
                                                 std::vector<backend_report> const& backends) {
    std::vector<found_crossovers> all;
    for (backend_report const& backend : backends) {
        if (backend.state != backend_state::usable)
            continue;
        found_crossovers& found = all.emplace_back(found_crossovers{backend.name, {}, {}});
        try {
            found.crossovers = gpu.copy_crossovers(backend.name);
        } catch (error const& failure) {
            found.problem = failure.what();
        }
    }
    return all;
}

/// Each line fails alone: what cannot be found out of a GPU is a problem of it.
void attempt(found_gpu& found, auto const& look) {
    try {
        look();
    } catch (error const& failure) {
        if (failure.code() == errc::invalid_argument) // a setting, which is nothing of the GPU's
            throw;
        found.problems.emplace_back(failure.what());
    } catch (std::exception const& failure) { // of the system: no memory, no thread
        found.problems.emplace_back(failure.what());
    }
}

void look_at(device const& gpu, found_gpu& found) {
    found.name = gpu.name();
    found.pci = gpu.pci_address();
    found.simulated = gpu.simulated();
    found.driver = gpu.driver_version();
    attempt(found, [&] { found.bar1 = gpu.bar1(); });
    attempt(found, [&] { found.backends = gpu.backends(); });
    attempt(found, [&] { found.copies = measure_crossovers(gpu, found.backends); });
    // After that, since an engine may fail while it is measured.
    attempt(found, [&] { found.engines = gpu.engines(); });
    attempt(found, [&] { found.batches = batch_engines(gpu); });
    attempt(found, [&] { found.kernels = find_kernel_copies(gpu); });
}

/// One line for each direction and kind of host memory: "mapping; channel from 1.5 KiB".
void tell_crossovers(details& all, found_gpu const& gpu) {
    table lines({"  copies by", "direction", "host memory", "method"});
    lines.left_from(1);
    for (found_crossovers const& found : gpu.copies) {
        if (!found.problem.empty()) {
            lines.row({"  " + found.backend, "", "", "not measured: " + found.problem});
            continue;
        }
        std::vector<std::string> line;
        for (copy_crossover const& each : found.crossovers) {
            all.crossovers.push_back(object({{"gpu", gpu.ordinal},
                                             {"backend", found.backend},
                                             {"direction", to_string(each.direction)},
                                             {"host", to_string(each.host)},
                                             {"from_bytes", each.from_bytes},
                                             {"method", each.method},
                                             {"cuda_malloc", each.of_cuda_malloc}}));
            if (each.from_bytes > 0) {
                line.back() += formatted("; {} from {}{}", each.method, size_text(each.from_bytes),
                                         each.of_cuda_malloc ? "" : ", not of cudaMalloc memory");
                continue;
            }
            if (!line.empty())
                lines.row(std::move(line));
            line = {"  " + found.backend, std::string(to_string(each.direction)),
                    std::string(to_string(each.host)), each.method};
        }
        lines.row(std::move(line));
    }
    all.text += lines.text() + "\n";
}

void tell_gpu(report& out, details& all, found_gpu const& gpu) {
    json row;
    row["kind"] = "gpu";
    row["ordinal"] = gpu.ordinal;
    row["name"] = gpu.name;
    row["pci"] = gpu.pci;
    row["simulated"] = gpu.simulated;
    row["driver"] = cuda_version_text(gpu.driver);
    row["problems"] = gpu.problems;
    row["bar1"] = object({{"total", gpu.bar1.total}, {"available", gpu.bar1.available}});
    out.add(std::move(row));

    all.text += formatted(
        "GPU {}{}\n", gpu.ordinal,
        gpu.bar1.total == 0
            ? ": size of BAR1 unknown: no usable backend reports it (BARMAP_LOG=info says why)"
            : "");
    for (std::string const& each : gpu.problems)
        all.text += formatted("  unknown: {}\n", each);
    tell_backends(out, all, gpu.backends, gpu.ordinal);
    tell_engines(all, "  copy engine", gpu.engines, gpu.ordinal, all.engines);
    tell_crossovers(all, gpu);
    tell_engines(all, "  batches by", gpu.batches, gpu.ordinal, all.batches);
    all.text += formatted("  kernels submit {}: {}\n\n",
                          gpu.kernels.usable ? "copies" : "no copies", gpu.kernels.reason);
    out.add(object({{"kind", "kernel_queue"},
                    {"gpu", gpu.ordinal},
                    {"usable", gpu.kernels.usable},
                    {"reason", gpu.kernels.reason}}));
}

std::string why_no_gpu() {
    std::string why;
    if (cuda::try_api(why))
        why = "the CUDA driver is there, but shows no GPU to this process";
    return why;
}

/// The rows where CUDA has no GPU: that is an answer, not a failure.
void add_no_gpu(report& out, details& all, std::string const& why) {
    std::string const advice(cuda::advice_without_gpu());
    for (std::string& name : backend_names()) {
        backend_report found;
        found.name = std::move(name);
        found.reason = "there is no GPU: " + why;
        found.advice = advice;
        out.add(to_json(found, nullptr));
    }
    for (std::string& name : engine_names()) {
        engine_report found;
        found.name = std::move(name);
        found.reason = "there is no GPU: " + why;
        found.advice = advice;
        all.engines.push_back(to_json(found, nullptr));
        all.batches.push_back(to_json(found, nullptr));
    }
}

void report_copy_routines(report& out, details& all) {
    table lines({"copy routine", "here", "needs"});
    lines.left_from(1);
    for (copy_routine_report const& routine : copy_routines()) {
        out.add(object({{"kind", "copy_routine"},
                        {"name", routine.name},
                        {"supported", routine.supported},
                        {"needs", routine.needs}}));
        lines.row({routine.name, routine.supported ? "yes" : "no", routine.needs});
    }
    all.text += lines.text();
}

void report_variables(report& out, details& all) {
    table lines({"variable", "value", "from"});
    lines.left_from(1);
    for (setting_report const& each : settings()) {
        out.add(object({{"kind", "variable"},
                        {"name", each.name},
                        {"value", each.value},
                        {"from", each.from},
                        {"allowed", each.allowed},
                        {"meaning", each.meaning}}));
        lines.row({std::string(each.name), each.value, std::string(each.from)});
    }
    all.text += "\n" + lines.text();
}

void report_policies(report& out, details& all) {
    table lines({"chosen by", "value", "unit", "from", "why"});
    lines.left_from(2);
    for (policy_report const& each : policies()) {
        out.add(object({{"kind", "policy"},
                        {"name", each.name},
                        {"value", each.value},
                        {"least", each.least},
                        {"most", each.most},
                        {"unit", each.unit},
                        {"from", each.from},
                        {"why", each.why}}));
        lines.row({each.name, formatted("{}", each.value), each.unit, each.from, each.why});
    }
    all.text += "\n" + lines.text();
}

struct info_options : options {
    bool verbose = false;
};

int describe_gpus(info_options const& values) {
    report out(values);
    std::vector<found_gpu> gpus;
    for (int ordinal = 0; ordinal < device::count(); ++ordinal) {
        found_gpu& found = gpus.emplace_back();
        found.ordinal = ordinal;
        attempt(found, [&] {
            device const gpu = device::open(ordinal);
            if (ordinal == 0)
                out.about(gpu);
            look_at(gpu, found);
        });
    }
    std::string const why = gpus.empty() ? why_no_gpu() : "";
    found_machine const machine{formatted("{}, Linux {}", cpu_model(), kernel_release()),
                                kernel_driver_version(), settings()};
    out.say(summary_of(machine, gpus,
                       formatted("No GPU: {}\n  -> {}\n", why, cuda::advice_without_gpu())));
    details all;
    for (found_gpu const& each : gpus)
        tell_gpu(out, all, each);
    if (gpus.empty())
        add_no_gpu(out, all, why);
    all.text +=
        formatted("structures of the kernel driver {}\n\n", describe_series(machine.kernel_driver));
    report_copy_routines(out, all);
    report_variables(out, all);
    report_policies(out, all);
    if (values.verbose)
        out.say(all.text);
    out.set("engines", std::move(all.engines));
    out.set("batches", std::move(all.batches));
    out.set("crossovers", std::move(all.crossovers));
    out.finish();
    return exit_ok;
}

} // namespace

void add_info(command_line& program) {
    subcommand app =
        program.add("info", "Report whether GPU memory can be mapped here, and by which backend");
    app.footer(
        {.remark = "Without a GPU it says why, with advice, and exits with 0: every backend and "
                   "every copy engine is then absent.",
         .exit_codes = {"0 done", usage_help, unavailable_help},
         .examples = {"# Does it work here?", "barmap info",
                      "# Why does a backend or a copy engine not work?", "barmap info --verbose"}});
    auto values = std::make_shared<info_options>();
    app.flag("-v,--verbose", values->verbose,
             "also print reason and advice of each backend and copy engine, the CPU copy routines, "
             "the variables, and the numbers by which barmap chooses");
    add_output_options(app, *values);
    when_chosen(app, values, describe_gpus);
}

} // namespace barmap::tool
