// SPDX-License-Identifier: MIT
#include "driver/cuda/driver_api.hpp"

#include "base/config.hpp"
#include "base/fd.hpp"
#include "base/library.hpp"
#include "base/simulation.hpp"

#include <atomic>
#include <vector>

namespace barmap::cuda {
namespace {

// Stands in for a function that this driver does not have.
template <class... Arguments>
CUresult missing(Arguments...) {
    return error_not_found;
}

template <class... Arguments>
void bind(CUresult (*&member)(Arguments...), os::library const& library, char const* symbol) {
    void* const address = library.symbol(symbol);
    member =
        address ? reinterpret_cast<CUresult (*)(Arguments...)>(address) : &missing<Arguments...>;
}

std::vector<std::string> library_names(bool simulated) {
    if (!simulated)
        return {"libcuda.so.1", "libcuda.so"};
    return config::simulated_library("libcuda.so.1", config::current().sim_library);
}

struct loaded_driver {
    driver_api table;
    std::string problem; ///< empty if the table may be used
    std::optional<CUresult> initialised;
};

loaded_driver load() {
    loaded_driver result;
    try {
        config::expect_allowed(); // BARMAP_SIM misspelt is no reason to use the real GPU
    } catch (error const& refusal) {
        result.problem = refusal.what();
        return result;
    }
    driver_api& table = result.table;
    table.simulated = config::current().simulate;
    std::string why;
    os::library library = os::library::open(library_names(table.simulated), why);
    if (!library) {
        result.problem = (table.simulated ? "the simulated GPU cannot be loaded: "
                                          : "the CUDA driver cannot be loaded: ") +
                         why;
        return result;
    }
#define BARMAP_CUDA_BIND(member, symbol, signature) bind(table.member, library, symbol);
    BARMAP_CUDA_FUNCTIONS(BARMAP_CUDA_BIND)
#undef BARMAP_CUDA_BIND
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

loaded_driver const& driver() {
    // Never destroyed: objects destroyed when the process exits still free what they hold.
    static auto const* const instance = new loaded_driver(load());
    return *instance;
}

std::atomic<driver_api const*> replacement{nullptr};
std::atomic<bool> kernel_driver_is_played{false};

} // namespace

driver_api const* try_api(std::string& why) {
    if (driver_api const* table = replacement.load(std::memory_order_acquire))
        return table;
    loaded_driver const& loaded = driver();
    if (loaded.problem.empty())
        return &loaded.table;
    why = loaded.problem;
    return nullptr;
}

driver_api const& api() {
    std::string why;
    if (driver_api const* table = try_api(why))
        return *table;
    config::expect_allowed(); // says it better, if that is why
    throw error(errc::no_device, "use CUDA (" + why + ")", "",
                std::string(advice_without_gpu()));
}

std::string_view advice_without_gpu() {
    if (result_of_init() == error_stub_library)
        return "the libcuda that was found is the toolkit's stub, which is for linking only: take its "
               "directory (.../stubs) out of LD_LIBRARY_PATH, so that the driver's own libcuda.so.1 "
               "is found";
    if (!config::current().simulate)
        return "install NVIDIA's driver and give this process a GPU, or set BARMAP_SIM=1 to use "
               "the simulated one";
    if (!result_of_init())
        return "set BARMAP_SIM_LIBRARY to the path of lib/barmap-sim/libcuda.so.1, or unset "
               "BARMAP_SIM to use a real GPU";
    return "correct the variables BARMAP_SIM_..., or unset BARMAP_SIM to use a real GPU";
}

std::optional<CUresult> result_of_init() {
    if (replacement.load(std::memory_order_acquire))
        return success;
    return driver().initialised;
}

bool simulation_has_kernel_driver() noexcept {
    return kernel_driver_is_played.load(std::memory_order_relaxed);
}

void give_simulation_a_kernel_driver(bool there) noexcept {
    kernel_driver_is_played.store(there, std::memory_order_relaxed);
}

void replace_api(driver_api const* table) noexcept {
    replacement.store(table, std::memory_order_release);
}

CUdevice device_with(int ordinal) {
    CUdevice handle = 0;
    check(api().device_get(&handle, ordinal), "open the GPU");
    return handle;
}

void check(CUresult result, std::string_view operation, std::string_view advice) {
    if (result == success)
        return;
    if (result == error_out_of_memory) // drivers also return this without a free descriptor
        os::expect_descriptors(operation);
    throw error({result, cuda_category()}, std::string(operation), "", std::string(advice));
}

} // namespace barmap::cuda
