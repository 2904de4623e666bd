// SPDX-License-Identifier: MIT
#include "measure/copy_methods.hpp"
#include "check/check.hpp"
#include "output/formatted.hpp"
#include "output/progress.hpp"
#include "output/report.hpp"
#include "output/table.hpp"
#include "output/units.hpp"
#include "command/exit_codes.hpp"

#include <algorithm>
#include <iterator>

namespace barmap::tool {
namespace {

/// One line of the table: barmap beside the driver. Of a simulated GPU only that it was copied.
void tell(report& out, table& rows, bool simulated, copy_direction way, std::size_t bytes,
          std::vector<measured_method> const& found) {
    for (measured_method const& one : found)
        out.add(row_of(one, way, bytes));
    if (simulated) {
        rows.row({formatted("{} {}", name_of(way), size_text(bytes)),
                  microseconds(found[0].times.p50_ns), found[0].routine});
        return;
    }
    summary const &ours = found[0].times, &pageable = found[1].times, &pinned = found[2].times;
    rows.row({formatted("{} {}", name_of(way), size_text(bytes)), microseconds(ours.min_ns),
              microseconds(ours.p50_ns), microseconds(ours.p99_ns),
              formatted("{:.2f}", gigabytes_per_second(bytes, ours.p50_ns)),
              microseconds(pageable.p50_ns), microseconds(pinned.p50_ns),
              formatted("{:.1f}x", std::min(pageable.p50_ns, pinned.p50_ns) / ours.p50_ns),
              found[0].routine});
}

int demonstrate(options const& values) {
    report out(values);
    opened_gpu const gpu(values.device);
    cuda::context_scope const scope = gpu.enter();
    device const& opened = gpu.device();
    out.say(formatted("{}: {}, PCI {}, driver CUDA {}\n",
                      opened.simulated() ? "simulated GPU" : "GPU", opened.name(),
                      opened.pci_address(), cuda_version_text(opened.driver_version())));

    std::vector<std::size_t> const sizes = sizes_to_measure(values, 8);
    std::size_t const largest = *std::max_element(sizes.begin(), sizes.end());
    copy_methods copies(gpu, values, largest);
    mapping const& mapped = copies.mapping();
    out.about(opened, mapped.backend());
    out.say(formatted("mapped {} of {} memory at {} by backend {} ({})\n", size_text(largest),
                      values.memory, static_cast<void const*>(mapped.data()), mapped.backend(),
                      to_string(mapped.kind())));

    constexpr std::uint64_t seed = 3;
    auto const problem = verify({copies.address(), largest, 0, largest}, mapped, seed);
    out.add(object({{"measurement", "verification"},
                    {"size", largest},
                    {"passed", !problem},
                    {"problem", problem ? json(*problem) : json(nullptr)}}));
    out.say(problem ? formatted("FAILED: {}\n", *problem)
                    : formatted("verified all {} both ways against cuMemcpy, and 256 small "
                                "transfers\n\n",
                                size_text(largest)));
    if (problem) {
        out.finish();
        return exit_failed;
    }

    std::vector<copy_method> methods{copies.chosen()};
    for (copy_method& method : copies.driver())
        methods.push_back(std::move(method));
    table rows(opened.simulated() ? std::vector<std::string>{"", "p50 us", "copy routine"}
                                  : std::vector<std::string>{"", "min us", "p50 us", "p99 us",
                                                             "GB/s", "cuMemcpy us", "pinned us",
                                                             "faster", "copy routine"});
    {
        progress bar(sizes.size() * std::size(both_directions));
        for (copy_direction const way : both_directions)
            for (std::size_t const bytes : sizes) {
                bar.step(formatted("{} {}", name_of(way), size_text(bytes)));
                tell(out, rows, opened.simulated(), way, bytes,
                     measure_in_turn(methods, way, bytes, values));
            }
    }
    out.say(rows.text());
    out.say(opened.simulated()
                ? "h2d: CPU to GPU, d2h: GPU to CPU; simulated GPU: not a benchmark\n"
                : "h2d: CPU to GPU, d2h: GPU to CPU; \"faster\" compares with the better cuMemcpy, "
                  "at p50\n");
    out.say("OK: every byte was right in both directions\n");
    out.finish();
    return exit_ok;
}

} // namespace

void add_demo(command_line& program) {
    subcommand app = program.add("demo", "Map GPU memory, copy both ways, verify and measure");
    auto values = std::make_shared<options>();
    values->sizes = {8, 64, 512, 4 * KiB, 32 * KiB, 256 * KiB, MiB, 8 * MiB};
    values->max = 8 * MiB;
    values->budget_s = 0.2;
    add_target_options(app, *values);
    add_measuring_options(app, *values);
    add_output_options(app, *values);
    app.footer(
        {.remark =
             "On a simulated GPU, no bandwidth and no ratio is printed: do not benchmark on it.",
         .exit_codes = {"0 done, and every byte was right", "1 a byte was wrong", usage_help,
                        unavailable_help},
         .examples = {"# Without a GPU", "BARMAP_SIM=1 barmap demo",
                      "# Two sizes, with one backend", "barmap demo --backend rm --sizes 64,64K"}});
    when_chosen(app, values, demonstrate);
}

} // namespace barmap::tool
