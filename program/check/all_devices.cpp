// SPDX-License-Identifier: MIT
#include "check/check.hpp"
#include "output/formatted.hpp"

#include "measure/reached_memory.hpp"
#include "output/units.hpp"

#include <memory>
#include <vector>

namespace barmap::tool {
namespace {

/// One GPU with memory that is mapped while the others' is.
struct participant {
    std::unique_ptr<opened_gpu> gpu;
    reached_memory reached;
};

std::optional<std::string> on_gpu(int ordinal, std::optional<std::string> problem) {
    if (problem)
        problem = formatted("GPU {}: {}", ordinal, *problem);
    return problem;
}

/// Every GPU holds another pattern, put there while all mappings are alive: a mapping that reached
/// the wrong GPU would carry the wrong one.
std::optional<std::string> cross_check(std::vector<participant> const& all) {
    constexpr std::uint64_t first_seed = 101, second_seed = 201;
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto const scope = all[i].gpu->enter();
        fill_by_driver(all[i].reached.memory.address(), all[i].reached.memory.size(),
                       first_seed + i);
    }
    for (std::size_t i = 0; i < all.size(); ++i)
        if (auto problem = verify_by_cpu(all[i].reached.mapping, first_seed + i))
            return on_gpu(int(i), std::move(problem));
    for (std::size_t i = 0; i < all.size(); ++i)
        write_through(all[i].reached.mapping, second_seed + i);
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto const scope = all[i].gpu->enter();
        if (auto problem = verify_by_driver(all[i].reached.memory.address(),
                                            all[i].reached.memory.size(), second_seed + i))
            return on_gpu(int(i), std::move(problem));
    }
    return std::nullopt;
}

void check_kind(std::string const& memory, std::string const& backend, int count,
                checklist& results) {
    constexpr std::size_t bytes = 8 * MiB;
    std::string const name = formatted("{} on {} GPUs at once", memory, count);
    std::vector<participant> all;
    try {
        options values;
        values.memory = memory;
        values.backend = backend;
        for (int ordinal = 0; ordinal < count; ++ordinal) {
            auto gpu = std::make_unique<opened_gpu>(ordinal);
            auto const scope = gpu->enter();
            reached_memory reached = reach(*gpu, values, bytes);
            all.push_back({std::move(gpu), std::move(reached)});
        }
        results.verdict(name, backend, cross_check(all), "distinct patterns, both ways");
        results.verdict(name + ", foreign", backend,
                        verify_refusal(*all.front().gpu, all.back().reached.memory.address(), KiB,
                                       backend, errc::wrong_device,
                                       "GPU 0 pinned memory of another GPU"),
                        rightly_refused);
    } catch (error const& failure) {
        results.failed(name, backend, failure.what());
    }
    for (participant& one : all) {
        auto const scope = one.gpu->enter();
        one.reached = {};
    }
}

} // namespace

void check_devices(check_options const& values, checklist& results) {
    int const count = device::count();
    std::vector<backend_report> const backends = device::open(0).backends();
    for (backend_report const& found : backends) {
        if (!concerns(values, found.name) || found.state != backend_state::usable)
            continue;
        if (count < 2) {
            results.skipped("several GPUs at once", found.name, "there is only one GPU");
            continue;
        }
        for (std::string const memory : {"device", "vmm"})
            if (memory != "device" || found.name != "vulkan") // it does not import cudaMalloc
                check_kind(memory, found.name, count, results);
    }
}

} // namespace barmap::tool
