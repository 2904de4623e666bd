// SPDX-License-Identifier: MIT
#include "check/check.hpp"
#include "command/exit_codes.hpp"
#include "measure/compared_copies.hpp"
#include "output/formatted.hpp"
#include "output/results.hpp"
#include "output/units.hpp"

#include <algorithm>
#include <iterator>

namespace barmap::tool {
namespace {

/// Barmap beside the driver. Of a simulated GPU the table says only that it was copied.
void compare_with_driver(report& out, bool simulated, compared_copies& copies,
                         std::vector<std::size_t> const& sizes, options const& values) {
    std::vector<copy_method> methods{copies.chosen()};
    for (copy_method& method : copies.driver())
        methods.push_back(std::move(method));
    column const size("", ""), routine("copy routine", "routine");
    std::vector<column> const columns =
        simulated ? std::vector<column>{size, us("p50"), routine}
                  : std::vector<column>{size,
                                        us("min"),
                                        us("p50"),
                                        us("p99"),
                                        column("GB/s", "gb_per_s", fixed<2>),
                                        "cuMemcpy us",
                                        "pinned us",
                                        "faster",
                                        routine};
    auto const compare_at = [&](results& into, copy_direction way, std::size_t bytes) {
        std::string const name = formatted("{} {}", name_of(way), size_text(bytes));
        into.now(name);
        auto const found = measure_in_turn(methods, way, bytes, values);
        double const pageable = found[1].times.p50_ns, pinned = found[2].times.p50_ns;
        std::vector<std::string> texts{name};
        if (!simulated)
            texts.insert(texts.end(), {microseconds(pageable), microseconds(pinned),
                                       formatted("{:.1f}x", std::min(pageable, pinned) /
                                                                found[0].times.p50_ns)});
        into.add(result_of(found[0], way, bytes), texts);
        into.add_row(result_of(found[1], way, bytes));
        into.add_row(result_of(found[2], way, bytes));
    };
    measure(out, {"copy", columns, "", ""}, every(both_directions, sizes), compare_at);
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
    compared_copies copies(gpu, values, largest);
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
    if (problem)
        return out.finish(false);

    compare_with_driver(out, opened.simulated(), copies, sizes, values);
    out.say(opened.simulated()
                ? "h2d: CPU to GPU, d2h: GPU to CPU; simulated GPU: not a benchmark\n"
                : "h2d: CPU to GPU, d2h: GPU to CPU; \"faster\" compares with the better cuMemcpy, "
                  "at p50\n");
    out.say("OK: every byte was right in both directions\n");
    return out.finish();
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
