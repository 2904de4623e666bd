// SPDX-License-Identifier: MIT
#include "check/check.hpp"
#include "output/formatted.hpp"

#include "measure/usable_engines.hpp"
#include "measure/verify_copies.hpp"
#include "output/units.hpp"

#include <barmap/mapping.hpp>
#include <barmap/report.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace barmap::tool {
namespace {

/// By the driver's own copies.
gpu_access by_driver(CUdeviceptr gpu) {
    return {[gpu](std::span<std::byte const> all) { write_gpu(gpu, all); },
            [gpu](std::span<std::byte> all) { read_gpu(all, gpu); }};
}

/// Whether nothing is wrong with an engine that cannot be checked for this reason.
bool excuses(error const& failure) {
    return failure.code() == errc::unsupported_memory ||
           failure.code() == errc::unsupported_operation || failure.code() == errc::bar1_exhausted;
}

/// The memory through the first backend by which the engine can hold it.
/// @throws error, which excuses the engine if there is no such backend
mapping map_for(std::string const& engine, opened_gpu const& gpu, gpu_memory const& memory,
                check_options const& values) {
    error refusal(errc::unsupported_memory, "map GPU memory for copy engine " + engine, "",
                  "no backend is usable");
    for (backend_report const& each : gpu.device().backends()) {
        if (each.state != backend_state::usable || !concerns(values, each.name))
            continue;
        try {
            pin const held = gpu.device().pin(std::uintptr_t{memory.address()}, memory.size(),
                                              {.backend = each.name});
            mapping through = held.map();
            through.use_engine(engine);
            return through;
        } catch (error const& failure) {
            if (!excuses(failure))
                throw;
            if (refusal.code() != errc::unsupported_operation) // which names the engine
                refusal = failure;
        }
    }
    throw refusal;
}

void check_engine(opened_gpu const& gpu, std::string const& engine, check_options const& values,
                  checklist& results) {
    constexpr std::size_t bytes = 6 * MiB;
    for (std::string const memory : {"device", "vmm5"})
        for (host_memory_kind const kind : both_kinds) {
            std::string const name = formatted("copy engine, {}, {}", memory, to_string(kind));
            try {
                gpu_memory const there = gpu_memory::named(memory, gpu, bytes);
                touched_host const host(kind, bytes);
                mapping through = map_for(engine, gpu, there, values);
                unsigned late = 0;
                auto const problem = with_next_engine(through, engine, late, [&] {
                    return verify_copies(by_driver(there.address()), host.bytes(),
                                         copier_through(through, host.bytes()), 31);
                });
                results.verdict(name, engine, problem,
                                formatted("random pieces in {}, both ways{}", size_text(bytes),
                                          late ? formatted("; {} late", late) : ""));
            } catch (error const& failure) {
                excuses(failure) ? results.skipped(name, engine, failure.what())
                                 : results.failed(name, engine, failure.what());
            }
        }
}

} // namespace

void check_adaptive(opened_gpu const& gpu, std::string const& backend, checklist& results) {
    constexpr std::size_t bytes = 6 * MiB, odd = 4 * KiB - 37;
    for (host_memory_kind const kind : both_kinds) {
        results.attempt(formatted("adaptive copies, {}", to_string(kind)), backend,
                        formatted("random pieces in {}, both ways", size_text(bytes - 2 * odd)),
                        [&] {
                            pin const memory = gpu.device().allocate(bytes, backend);
                            CUdeviceptr const address = CUdeviceptr{memory.gpu_address()} + odd;
                            // Backends that import their own memory do so at any address.
                            pin const part = gpu.device().pin(
                                std::uintptr_t{address}, bytes - 2 * odd, {.backend = backend});
                            mapping const through = part.map();
                            touched_host const host(kind, through.size());
                            return verify_copies(by_driver(address), host.bytes(),
                                                 copier_through(through, host.bytes()), 37);
                        });
    }
}

void check_engines(opened_gpu const& gpu, check_options const& values, checklist& results) {
    std::string_view const forced = setting("BARMAP_ENGINE").value_or("");
    if (!values.backend.empty())
        return;
    for (engine_report const& found : gpu.device().engines()) {
        if (!forced.empty() && forced != found.name)
            continue;
        if (found.state == backend_state::usable)
            check_engine(gpu, found.name, values, results);
        else
            results.unusable("copy engine", found);
    }
}

} // namespace barmap::tool
