// SPDX-License-Identifier: MIT
#include "info/summary.hpp"

#include "output/formatted.hpp"
#include "output/units.hpp"

#include <algorithm>

namespace barmap::tool {
namespace {

std::string joined(std::vector<std::string> const& words, char const* between = ", ") {
    std::string all;
    for (std::string const& each : words)
        all += (all.empty() ? "" : between) + each;
    return all;
}

/// Whether nothing was found out about its backends.
bool is_unknown(found_gpu const& gpu) {
    return gpu.backends.empty() && !gpu.problems.empty();
}

bool maps(backend_report const& backend, memory_kind kind) {
    return std::ranges::any_of(backend.kinds, [kind](memory_kind_report const& each) {
        return each.kind == kind && each.usable;
    });
}

/// The first backend that maps memory of a kind, or null: it is the one that is used.
backend_report const* first_that_maps(found_gpu const& gpu, memory_kind kind) {
    auto const found = std::ranges::find_if(
        gpu.backends, [kind](backend_report const& each) { return maps(each, kind); });
    return found == gpu.backends.end() ? nullptr : &*found;
}

backend_report const* first_that_allocates(found_gpu const& gpu) {
    auto const found = std::ranges::find_if(gpu.backends, [](backend_report const& each) {
        return each.state == backend_state::usable && each.allocates;
    });
    return found == gpu.backends.end() ? nullptr : &*found;
}

std::string titled(std::string const& title, std::string const& text) {
    return text.empty() ? "" : formatted("{:<9}  {}\n", title, text);
}

/// "usable: rm, vulkan; absent: gdrdrv, dmabuf"
std::string describe_backends(found_gpu const& gpu) {
    std::vector<std::string> parts;
    for (backend_state const state :
         {backend_state::usable, backend_state::absent, backend_state::broken}) {
        std::vector<std::string> names;
        for (backend_report const& each : gpu.backends)
            if (each.state == state)
                names.push_back(each.name);
        if (!names.empty())
            parts.push_back(formatted("{}: {}", to_string(state), joined(names)));
    }
    return joined(parts, "; ");
}

/// One word for two kinds of which a handle can be exported or not.
void put_kinds(found_gpu const& gpu, memory_kind exportable, memory_kind opaque, char const* word,
               std::vector<std::string>& words) {
    bool const one = first_that_maps(gpu, exportable), other = first_that_maps(gpu, opaque);
    if (one || other)
        words.push_back(one && other ? word
                        : one        ? formatted("exportable {}", word)
                                     : formatted("not exportable {}", word));
}

std::string describe_memory(found_gpu const& gpu) {
    if (is_unknown(gpu))
        return {};
    std::vector<std::string> words;
    if (first_that_maps(gpu, memory_kind::device))
        words.push_back("cudaMalloc");
    put_kinds(gpu, memory_kind::virtual_exportable, memory_kind::virtual_opaque, "cuMemCreate",
              words);
    put_kinds(gpu, memory_kind::pool_exportable, memory_kind::pool, "cudaMallocAsync", words);
    if (first_that_allocates(gpu))
        words.push_back("barmap's own");
    return words.empty() ? "none can be mapped" : joined(words);
}

/// With pinned host memory, through the first usable backend: "channel from 32 KiB to the GPU".
std::string describe_copies(found_gpu const& gpu) {
    if (gpu.copies.empty())
        return {};
    found_crossovers const& first = gpu.copies.front();
    if (!first.problem.empty())
        return "not measured: " + first.problem;
    std::vector<std::string> parts;
    std::string without;
    for (copy_crossover const& each : first.crossovers) {
        if (each.host != host_memory_kind::pinned || each.method == "mapping")
            continue;
        parts.push_back(each.from_bytes == 0
                            ? formatted("{} {}", each.method, to_string(each.direction))
                            : formatted("{} from {} {}", each.method, size_text(each.from_bytes),
                                        to_string(each.direction)));
        if (!each.of_cuda_malloc)
            without = formatted("; {} copies no cudaMalloc memory", each.method);
    }
    return parts.empty() ? "by the CPU for every size" : joined(parts) + without;
}

std::string describe_batches(found_gpu const& gpu) {
    for (engine_report const& each : gpu.batches)
        if (each.state == backend_state::usable)
            return "by " + each.name;
    return gpu.batches.empty() ? "" : "none: " + gpu.batches.back().reason;
}

std::string describe_kernels(found_gpu const& gpu) {
    return gpu.kernels.usable ? "submit copies " + gpu.kernels.reason : "";
}

/// The lines that are mostly alike for two GPUs of a machine.
std::string describe_abilities(found_gpu const& gpu) {
    std::string all =
        titled("backends", describe_backends(gpu)) + titled("memory", describe_memory(gpu)) +
        titled("copies", describe_copies(gpu)) + titled("batches", describe_batches(gpu)) +
        titled("kernels", describe_kernels(gpu));
    for (std::string const& each : gpu.problems)
        all += titled("problem", each);
    bool const needs_advice = !first_that_maps(gpu, memory_kind::device);
    for (backend_report const& each : gpu.backends)
        if (each.state == backend_state::broken ||
            (each.state == backend_state::absent && needs_advice))
            all += titled(each.name, formatted("{} -> {}", each.reason, each.advice));
    return all;
}

std::string describe_gpu(found_gpu const& gpu) {
    if (gpu.name.empty())
        return titled(formatted("GPU {}", gpu.ordinal), "cannot be opened");
    return titled(formatted("GPU {}", gpu.ordinal),
                  formatted("{}{}, {}{}", gpu.name, gpu.simulated ? " (simulated)" : "", gpu.pci,
                            gpu.bar1.total == 0
                                ? ""
                                : formatted(", BAR1 {} ({} free)", size_text(gpu.bar1.total),
                                            size_text(gpu.bar1.available))));
}

/// Whether cudaMalloc memory can be mapped, and by which backend.
std::string verdict_on(found_gpu const& gpu) {
    if (is_unknown(gpu))
        return "it is unknown whether GPU memory can be mapped";
    if (backend_report const* const found = first_that_maps(gpu, memory_kind::device))
        return formatted("cudaMalloc memory can be mapped, by {}", found->name);
    if (backend_report const* const found = first_that_allocates(gpu))
        return formatted(
            "cudaMalloc memory cannot be mapped; memory that barmap allocates can, by {}",
            found->name);
    return "no GPU memory can be mapped";
}

std::string verdict_on_all(std::vector<found_gpu> const& gpus) {
    std::string const first = verdict_on(gpus.front());
    bool const alike = std::ranges::all_of(
        gpus, [&first](found_gpu const& each) { return verdict_on(each) == first; });
    if (alike)
        return first + "\n";
    std::string all;
    for (found_gpu const& each : gpus)
        all += formatted("GPU {}: {}\n", each.ordinal, verdict_on(each));
    return all;
}

/// The variables that do not have their defaults.
std::string describe_settings(std::vector<setting_report> const& variables) {
    std::vector<std::string> parts;
    for (setting_report const& each : variables)
        if (each.from == "environment")
            parts.push_back(formatted("{}={}", each.name, each.value));
        else if (each.from != "default")
            parts.push_back(formatted("{} ({})", each.name, each.from));
    return joined(parts);
}

} // namespace

std::string summary_of(found_machine const& machine, std::vector<found_gpu> const& gpus,
                       std::string const& why_none) {
    std::string all = gpus.empty() ? why_none : verdict_on_all(gpus);
    std::string last;
    for (found_gpu const& each : gpus) {
        all += describe_gpu(each);
        std::string const abilities = describe_abilities(each);
        if (abilities != last)
            all += abilities;
        last = abilities;
    }
    auto const opened =
        std::ranges::find_if(gpus, [](found_gpu const& each) { return each.driver != 0; });
    if (opened != gpus.end())
        all += titled(
            "driver",
            "CUDA " + cuda_version_text(opened->driver) +
                (machine.kernel_driver.empty() ? "" : ", kernel driver " + machine.kernel_driver));
    return all + titled("CPU", machine.cpu) +
           titled("settings", describe_settings(machine.variables)) +
           "reasons and advice: barmap info --verbose; all of it as JSON: barmap info --json\n";
}

std::string describe_series(std::string_view version) {
    if (version.empty())
        return "unknown";
    driver_source const source = known_from(version);
    if (source == driver_source::unknown)
        return formatted("{}: not known to this barmap; off: the copy engine channel, and the PCIe "
                         "path to GPUs with a coherent link",
                         version);
    if (source == driver_source::headers)
        return formatted("{}: known from NVIDIA's headers", version);
    return formatted("{}: known from other projects' tables, not from NVIDIA's headers", version);
}

} // namespace barmap::tool
