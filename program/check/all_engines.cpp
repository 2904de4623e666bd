// SPDX-License-Identifier: MIT
#include "check/check.hpp"
#include "output/formatted.hpp"

#include "measure/usable_engines.hpp"
#include "measure/verify_copies.hpp"
#include "output/units.hpp"

#include <barmap/copy.hpp>
#include <barmap/report.hpp>

#include <algorithm>
#include <vector>

namespace barmap::tool {
namespace {

/// By the driver's own copies.
gpu_access by_driver(CUdeviceptr gpu) {
    return {[gpu](std::span<std::byte const> all) { write_gpu(gpu, all); },
            [gpu](std::span<std::byte> all) { read_gpu(all, gpu); }};
}

/// Pinned memory by one submission of all pieces, other memory piece by piece.
copier by_engine(engine_path const& path, touched_host const& host) {
    return [&](engine::direction way, std::span<place const> places) {
        std::vector<engine::piece> pieces;
        for (place const& each : places)
            if (host.kind() == host_memory_kind::pinned)
                path.add(pieces, way, each.gpu, each.host, each.bytes);
            else
                path.copy_staged(way, each.gpu, host.bytes().subspan(each.host, each.bytes));
        path.copy(pieces);
    };
}

copier adaptively(mapping const& through, touched_host const& host) {
    return [&](engine::direction way, std::span<place const> places) {
        for (place const& each : places) {
            std::span<std::byte> const bytes = host.bytes().subspan(each.host, each.bytes);
            way == engine::direction::to_gpu ? through.copy_to_gpu(each.gpu, bytes)
                                             : through.copy_to_cpu(bytes, each.gpu);
        }
    };
}

void check_engine(opened_gpu const& gpu, running_engine const& which, checklist& results) {
    constexpr std::size_t bytes = 6 * MiB;
    for (std::string const memory : {"device", "vmm5"})
        for (host_memory_kind const kind : both_kinds) {
            std::string const name = formatted("copy engine, {}, {}", memory, to_string(kind));
            try {
                gpu_memory const there = gpu_memory::named(memory, gpu, bytes);
                touched_host const host(kind, bytes);
                bool const pinned = kind == host_memory_kind::pinned;
                engine_user user(gpu, which, there.address(), bytes,
                                 pinned ? host.bytes() : std::span<std::byte>());
                auto const problem = user.use([&](engine_path const& path) {
                    return verify_copies(by_driver(there.address()), host.bytes(),
                                         by_engine(path, host), 31);
                });
                results.verdict(name, which.name, problem,
                                formatted("random pieces in {}, both ways{}", size_text(bytes),
                                          user.late() ? formatted("; {} late", user.late()) : ""));
            } catch (error const& failure) {
                results.failed(name, which.name, failure.what());
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
                                                 adaptively(through, host), 37);
                        });
    }
}

void check_engines(opened_gpu const& gpu, check_options const& values, checklist& results) {
    std::string_view const forced = setting("BARMAP_ENGINE").value_or("");
    if (!values.backend.empty())
        return;
    std::vector<running_engine> const usable = usable_engines(gpu);
    for (engine_report const& found : gpu.device().engines()) {
        if (!forced.empty() && forced != found.name)
            continue;
        auto const running = std::find_if(usable.begin(), usable.end(),
                                          [&](auto const& one) { return one.name == found.name; });
        if (running != usable.end())
            check_engine(gpu, *running, results);
        else
            results.unusable("copy engine", found);
    }
}

} // namespace barmap::tool
