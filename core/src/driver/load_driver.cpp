// SPDX-License-Identifier: MIT
#include "base/c_boundary.hpp"
#include "base/config.hpp"
#include "cuda/driver_api.hpp"
#include "system/library.hpp"
#include "system/simulation.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace barmap::cuda {
namespace {

std::vector<std::string> const& library_names() {
    static auto const* const instance = new std::vector<std::string>(
        config::current().simulate
            ? os::simulated_library("libcuda.so.1", config::current().sim_library)
            : std::vector<std::string>{"libcuda.so.1", "libcuda.so"});
    return *instance;
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
    os::library library = os::library::open(library_names(), why);
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

char const* barmap_driver_file(std::size_t index) {
    char const* name = nullptr;
    (void)barmap::c::attempt([&] {
        auto const& names = barmap::cuda::library_names();
        if (index < names.size())
            name = names[index].c_str();
    });
    return name;
}

int barmap_driver_load(barmap_driver* driver) {
    using namespace barmap;
    static constexpr char operation[] = "load the CUDA driver";
    constexpr std::size_t least_size = 40 /* of 1.0 */, most_size = 4096;
    return c::attempt([&] {
        c::expect(driver, operation, "pass a pointer for the answer, not NULL");
        std::size_t const size = driver->size;
        if (size < least_size || size > most_size)
            throw error(errc::invalid_argument, operation, "",
                        "set its size to sizeof(barmap_driver)");
        cuda::loaded_driver const& loaded = cuda::driver();
        if (loaded.refused)
            throw *loaded.refused;
        barmap_driver const known{size,
                                  loaded.table.library,
                                  loaded.problem.c_str(),
                                  loaded.initialised ? 1 : 0,
                                  loaded.initialised.value_or(cuda::success),
                                  loaded.table.simulated ? 1 : 0,
                                  loaded.table.version};
        std::memset(driver, 0, size); // what a newer program knows besides
        std::memcpy(driver, &known, std::min(size, sizeof known));
    });
}
