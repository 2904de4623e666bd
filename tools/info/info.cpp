// SPDX-License-Identifier: MIT
#include "output/formatted.hpp"
#include "output/machine.hpp"
#include "output/report.hpp"
#include "output/table.hpp"
#include "output/units.hpp"
#include "program/exit_codes.hpp"
#include "program/options.hpp"

#include "base/config.hpp"
#include "driver/cuda/driver_api.hpp"
#include "map/backend.hpp"
#include "transfer/engine/engine.hpp"

#include <barmap/device.hpp>
#include <barmap/error.hpp>
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
        row["kinds"].push_back(
            {{"memory", to_string(each.kind)}, {"usable", each.usable}, {"reason", each.reason}});
    return row;
}

/// What each usable backend maps, and by what it finds that, or why it does not map it.
void tell_kinds(report& out, std::vector<backend_report> const& backends) {
    table lines({"  maps", "memory", "here", "by, or why not"});
    lines.left_from(1);
    for (backend_report const& found : backends)
        for (memory_kind_report const& each : found.kinds)
            lines.row({"  " + found.name, std::string(to_string(each.kind)),
                       each.usable ? "yes" : "no", each.reason});
    out.say(lines.text() + "\n");
}

void tell_backends(report& out, std::vector<backend_report> const& backends, json const& gpu) {
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
    out.say(lines.text() + "\n");
    tell_kinds(out, backends);
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

/// What is said of copy engines, of all GPUs.
struct engine_rows {
    json engines = json::array();
    json batches = json::array();
    json crossovers = json::array();
};

/// @param what they copy, the first column's heading
void tell_engines(report& out, char const* what, std::vector<engine_report> const& engines,
                  json const& gpu, json& rows) {
    table lines({what, "state", "start ms", "copies", "bytes", "failures", "why"});
    lines.left_from(6);
    for (engine_report const& found : engines) {
        rows.push_back(to_json(found, gpu));
        lines.row({"  " + found.name, std::string(to_string(found.state)),
                   formatted("{:.2f}", found.start_us / 1000), std::to_string(found.copies),
                   std::to_string(found.bytes), std::to_string(found.failures), found.reason});
        if (!found.advice.empty())
            lines.row({"", "", "", "", "", "", "-> " + found.advice});
    }
    out.say(lines.text() + "\n");
}

/// What copies batches: the first that works, and those before it that do not.
std::vector<engine_report> batch_engines(device const& gpu) {
    try {
        return gpu.batches().reports();
    } catch (error const& failure) {
        engine_report none;
        none.name = "none";
        none.reason = failure.code().message();
        none.advice = failure.advice();
        return {none};
    }
}

/// One line for each direction and kind of host memory: "mapping; channel from 1.5 KiB".
std::string describe_crossovers(device const& gpu, engine_rows& rows) {
    table lines({"  copies by", "direction", "host memory", "method"});
    lines.left_from(1);
    for (backend_report const& backend : gpu.backends()) {
        if (backend.state != backend_state::usable)
            continue;
        try {
            std::vector<std::string> line;
            for (copy_crossover const& each : gpu.copy_crossovers(backend.name)) {
                rows.crossovers.push_back({{"gpu", gpu.ordinal()},
                                           {"backend", backend.name},
                                           {"direction", to_string(each.direction)},
                                           {"host", to_string(each.host)},
                                           {"from_bytes", each.from_bytes},
                                           {"method", each.method}});
                if (each.from_bytes > 0) {
                    line.back() +=
                        formatted("; {} from {}", each.method, size_text(each.from_bytes));
                    continue;
                }
                if (!line.empty())
                    lines.row(std::move(line));
                line = {"  " + backend.name, std::string(to_string(each.direction)),
                        std::string(to_string(each.host)), each.method};
            }
            lines.row(std::move(line));
        } catch (error const& failure) {
            lines.row({"  " + backend.name, "", "", formatted("not measured: {}", failure.what())});
        }
    }
    return lines.text() + "\n";
}

void tell_gpu(report& out, device const& gpu, engine_rows& engines) {
    bar1_info const bar1 = gpu.bar1();
    json row;
    row["kind"] = "gpu";
    row["ordinal"] = gpu.ordinal();
    row["name"] = gpu.name();
    row["pci"] = gpu.pci_address();
    row["simulated"] = gpu.simulated();
    row["driver"] = cuda_version_text(gpu.driver_version());
    row["bar1"] = {{"total", bar1.total}, {"available", bar1.available}};
    out.add(std::move(row));

    std::string const kernel_driver = kernel_driver_version();
    out.say(formatted("GPU {}: {}{}\n  PCI     {}\n  driver  CUDA {}{}\n  BAR1    {}\n",
                      gpu.ordinal(), gpu.simulated() ? "simulated GPU, " : "", gpu.name(),
                      gpu.pci_address(), cuda_version_text(gpu.driver_version()),
                      kernel_driver.empty() ? "" : ", kernel driver " + kernel_driver,
                      bar1.total == 0 ? "unknown: no usable backend can tell"
                                      : formatted("{} in all, {} free", size_text(bar1.total),
                                                  size_text(bar1.available))));
    tell_backends(out, gpu.backends(), gpu.ordinal());
    // First: an engine may fail while it is measured.
    std::string const crossovers = describe_crossovers(gpu, engines);
    tell_engines(out, "  copy engine", gpu.engines(), gpu.ordinal(), engines.engines);
    out.say(crossovers);
    tell_engines(out, "  batches by", batch_engines(gpu), gpu.ordinal(), engines.batches);
}

/// What there is to say where CUDA has no GPU: that is an answer, not a failure.
void tell_no_gpu(report& out, engine_rows& engines) {
    std::string why;
    if (cuda::try_api(why))
        why = "the CUDA driver is there, but shows no GPU to this process";
    std::string const advice(cuda::advice_without_gpu());
    out.say(formatted("No GPU: {}\n  -> {}\n\n", why, advice));
    for (backend::registration const& entry : backend::registry()) {
        backend_report found;
        found.name = entry.name;
        found.reason = "there is no GPU: " + why;
        found.advice = advice;
        out.add(to_json(found, nullptr));
    }
    for (engine::copy_registration const& entry : engine::registry()) {
        engine_report found;
        found.name = entry.name;
        found.reason = "there is no GPU: " + why;
        found.advice = advice;
        engines.engines.push_back(to_json(found, nullptr));
        engines.batches.push_back(to_json(found, nullptr));
    }
}

void report_copy_routines(report& out) {
    table lines({"copy routine", "here", "needs"});
    lines.left_from(1);
    for (copy_routine_report const& routine : copy_routines()) {
        out.add({{"kind", "copy_routine"},
                 {"name", routine.name},
                 {"supported", routine.supported},
                 {"needs", routine.needs}});
        lines.row({routine.name, routine.supported ? "yes" : "no", routine.needs});
    }
    out.say(lines.text());
}

void report_variables(report& out) {
    table lines({"variable", "value", "from"});
    lines.left_from(1);
    for (config::variable const& each : config::describe()) {
        out.add({{"kind", "variable"},
                 {"name", each.name},
                 {"value", each.value},
                 {"from", each.from},
                 {"allowed", each.allowed},
                 {"meaning", each.meaning}});
        lines.row({std::string(each.name), each.value, std::string(each.from)});
    }
    out.say("\n" + lines.text());
}

int describe_gpus(options const& values) {
    report out(values);
    int const count = device::count();
    engine_rows engines;
    out.say(formatted("CPU: {}, Linux {}\n\n", cpu_model(), kernel_release()));
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        device const gpu = device::open(ordinal);
        if (ordinal == 0)
            out.about(gpu);
        tell_gpu(out, gpu, engines);
    }
    if (count == 0)
        tell_no_gpu(out, engines);
    report_copy_routines(out);
    report_variables(out);
    out.set("engines", std::move(engines.engines));
    out.set("batches", std::move(engines.batches));
    out.set("crossovers", std::move(engines.crossovers));
    out.finish();
    return exit_ok;
}

} // namespace

void add_info(command_line& program) {
    subcommand app = program.add("info", "List GPUs, backends, copy engines and CPU copy routines");
    app.footer({.remark = "Without a GPU it says why, with advice, and exits 0, too: every backend "
                          "and every copy engine is then absent.",
                .exit_codes = {"0 done", usage_help, unavailable_help},
                .examples = {"# The state of this machine", "barmap info"}});
    auto values = std::make_shared<options>();
    add_output_options(app, *values);
    when_chosen(app, values, describe_gpus);
}

} // namespace barmap::tool
