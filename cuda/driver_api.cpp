// SPDX-License-Identifier: MIT
#include "cuda/driver_api.hpp"

#include "system/fd.hpp"

#include <atomic>

namespace barmap::cuda {
namespace {

// Stands in for a function that this driver does not have.
template <class... Arguments>
CUresult missing(Arguments...) {
    return error_not_found;
}

template <class... Arguments>
void bind(CUresult (*&member)(Arguments...), void* address) {
    member =
        address ? reinterpret_cast<CUresult (*)(Arguments...)>(address) : &missing<Arguments...>;
}

std::atomic<driver_api const*> replacement{nullptr};
std::atomic<bool> kernel_driver_is_played{false};

} // namespace

void bind_functions(driver_api& table, std::function<void*(char const*)> const& find) {
#define BARMAP_CUDA_BIND(member, symbol, signature) bind(table.member, find(symbol));
    BARMAP_CUDA_FUNCTIONS(BARMAP_CUDA_BIND)
#undef BARMAP_CUDA_BIND
}

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
    if (driver().refused)
        throw *driver().refused;
    throw error(errc::no_device, "use CUDA (" + why + ")", "",
                std::string(advice_without_gpu()));
}

std::string_view advice_without_gpu() {
    if (driver().refused)
        return driver().refused->advice();
    if (result_of_init() == error_stub_library)
        return "the libcuda that was found is the toolkit's stub, which is for linking only: take its "
               "directory (.../stubs) out of LD_LIBRARY_PATH, so that the driver's own libcuda.so.1 "
               "is found";
    if (!driver().table.simulated)
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
    check(api().device_get(&handle, ordinal), "open GPU " + std::to_string(ordinal),
          "give the ordinal of a GPU that `barmap info` shows");
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
