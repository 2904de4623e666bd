// SPDX-License-Identifier: MIT
#include "check/check.hpp"

#include "command/exit_codes.hpp"
#include "output/formatted.hpp"
#include "output/units.hpp"

#include <barmap/report.hpp>

#include <algorithm>
#include <sstream>

namespace barmap::tool {
namespace {

void split_into(std::set<std::string, std::less<>>& names, std::string const& list) {
    std::istringstream stream(list);
    for (std::string name; std::getline(stream, name, ',');)
        if (!name.empty())
            names.insert(name);
}

void check_gpu(opened_gpu const& gpu, check_options const& values, checklist& results) {
    cuda::context_scope const scope = gpu.enter();
    results.about(gpu.device().ordinal());
    for (backend_report const& found : gpu.device().backends()) {
        if (!concerns(values, found.name))
            continue;
        if (found.state != backend_state::usable) {
            results.unusable("every kind", found);
            continue;
        }
        check_memory(gpu, found, values, results);
        check_adaptive(gpu, found.name, results);
    }
    check_engines(gpu, values, results);
    check_refusals(gpu, results);
}

int run(check_options const& values) {
    report out(values);
    checklist results(values, out);
    {
        opened_gpu const first(values.device);
        out.about(first.device());
        out.say(formatted("{}, driver CUDA {}\n", title_of(first.device()),
                          cuda_version_text(first.device().driver_version())));
        check_gpu(first, values, results);
    }
    if (values.all_devices) {
        for (int ordinal = 0; ordinal < device::count(); ++ordinal)
            if (ordinal != values.device)
                check_gpu(opened_gpu(ordinal), values, results);
        check_devices(values, results);
    }
    results.tell_sums();
    return out.finish(results.failures() == 0);
}

} // namespace

bool concerns(check_options const& values, std::string_view backend) {
    std::string_view const forced =
        values.backend.empty() ? setting("BARMAP_BACKEND").value_or("") : values.backend;
    return forced.empty() || forced == backend;
}

checklist::checklist(check_options const& values, report& out) : out_(out) {
    split_into(required_, values.require);
    split_into(required_, std::string(setting("BARMAP_REQUIRE").value_or("")));
    std::vector<std::string> const known = backend_names();
    std::string names;
    for (std::string const& name : known)
        names += (names.empty() ? "" : ", ") + name;
    for (std::string const& name : required_)
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw usage_error(
                formatted("required backend {} is unknown: the backends are {}", name, names));
}

bool checklist::requires_backend(std::string_view name) const {
    return required_.count(name) != 0;
}

void checklist::about(int gpu) {
    gpu_ = gpu;
    out_.say(formatted("GPU {}\n", gpu));
}

void checklist::line(std::string_view memory, std::string_view backend, std::string_view result,
                     std::string_view detail) {
    out_.say(formatted("{:<29}  {:<6}  {:<7}  {}\n", memory, backend, result, detail));
    out_.add(object({{"gpu", gpu_},
                     {"memory", memory},
                     {"backend", backend},
                     {"result", result},
                     {"detail", detail}}));
}

void checklist::passed(std::string_view memory, std::string_view backend, std::string_view detail) {
    ++passes_;
    line(memory, backend, "passed", detail);
}

void checklist::failed(std::string_view memory, std::string_view backend, std::string_view why) {
    ++failures_;
    line(memory, backend, "failed", why);
}

void checklist::skipped(std::string_view memory, std::string_view backend, std::string_view why) {
    if (requires_backend(backend)) {
        failed(memory, backend, formatted("required, but {}", why));
        return;
    }
    ++skips_;
    line(memory, backend, "skipped", why);
}

void checklist::verdict(std::string_view memory, std::string_view backend,
                        std::optional<std::string> const& problem, std::string_view detail) {
    problem ? failed(memory, backend, *problem) : passed(memory, backend, detail);
}

void checklist::tell_sums() {
    out_.say(formatted("{} passed, {} failed, {} skipped\n", passes_, failures_, skips_));
    out_.add(object({{"passed", passes_}, {"failed", failures_}, {"skipped", skips_}}));
}

void add_check(command_line& program) {
    subcommand app =
        program.add("check", "Verify every usable backend and copy engine, byte by byte");
    auto values = std::make_shared<check_options>();
    values->max_size = GiB;
    add_device_option(app, *values);
    app.add("--backend", values->backend, "check this backend only, and no copy engine by itself")
        .one_of(backend_names())
        .named("NAME");
    add_size_option(app, "--max-size", values->max_size, "leave out larger allocations");
    app.flag("--all-devices", values->all_devices,
             "check every GPU, and mappings on all of them at once");
    app.add("--require", values->require,
            "backends whose skips count as failures; added to BARMAP_REQUIRE")
        .named("NAME,...");
    add_output_options(app, *values);
    app.footer(
        {.remark =
             "A documented refusal (managed memory, a freed pointer) counts as passed. A backend "
             "or copy engine that is absent is skipped; one that is broken has failed.",
         .exit_codes = {"0 done, and every check passed", "1 a check failed", usage_help,
                        unavailable_help},
         .examples = {"# Everything, on every GPU", "barmap check --all-devices",
                      "# In continuous integration: rm must work",
                      "barmap check --require rm --json --output check.json"}});
    when_chosen(app, values, run);
}

} // namespace barmap::tool
