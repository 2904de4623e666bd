// SPDX-License-Identifier: MIT
#include "base/config.hpp"
#include "cuda/driver_api.hpp"
#include "system/library.hpp"
#include "system/simulation.hpp"

#include <string>
#include <vector>

namespace barmap::cuda {
namespace {

std::vector<std::string> library_names(bool simulated) {
    if (!simulated)
        return {"libcuda.so.1", "libcuda.so"};
    return os::simulated_library("libcuda.so.1", config::current().sim_library);
}

loaded_driver load() {
    loaded_driver result;
    result.table.simulated = config::current().simulate;
    try {
        config::expect_valid(); // BARMAP_SIM misspelt is no reason to use the real GPU
    } catch (error const& refusal) {
        result.problem = refusal.what();
        result.refused = refusal;
        return result;
    }
    driver_api& table = result.table;
    std::string why;
    os::library library = os::library::open(library_names(table.simulated), why);
    if (!library) {
        result.problem = (table.simulated ? "the simulated GPU cannot be loaded: "
                                          : "the CUDA driver cannot be loaded: ") +
                         why;
        return result;
    }
    bind_functions(table, [&](char const* symbol) { return library.symbol(symbol); });
    table.library = library.abandon();
    CUresult const initialised = table.init(0);
    result.initialised = initialised;
    if (initialised != success) {
        result.problem = "cuInit returns " + cuda_category().message(initialised);
        return result;
    }
    table.driver_get_version(&table.version);
    return result;
}

} // namespace

loaded_driver const& driver() {
    // Never destroyed: objects destroyed when the process exits still free what they hold.
    static auto const* const instance = new loaded_driver(load());
    return *instance;
}

} // namespace barmap::cuda
