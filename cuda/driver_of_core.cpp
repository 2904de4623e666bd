// SPDX-License-Identifier: MIT
#include "cuda/driver_api.hpp"

#include "system/library.hpp"

#include <barmap/report.h>

namespace barmap::cuda {
namespace {

loaded_driver load() {
    loaded_driver result;
    barmap_driver of_core{};
    of_core.size = sizeof of_core;
    try {
        barmap::detail::check(barmap_driver_load(&of_core));
    } catch (error const& refusal) {
        result.problem = refusal.what();
        result.refused = refusal;
        return result;
    }
    result.problem = of_core.problem;
    if (of_core.is_initialised)
        result.initialised = static_cast<CUresult>(of_core.result_of_init);
    if (of_core.library)
        bind_functions(result.table, [&](char const* symbol) {
            return os::library::symbol_of(of_core.library, symbol);
        });
    result.table.library = of_core.library;
    result.table.simulated = of_core.simulated != 0;
    result.table.version = of_core.version;
    return result;
}

} // namespace

// In libraries and programs over libbarmap.so.1, which has loaded it.
loaded_driver const& driver() {
    static auto const* const instance = new loaded_driver(load());
    return *instance;
}

} // namespace barmap::cuda
