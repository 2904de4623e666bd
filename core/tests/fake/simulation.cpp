// SPDX-License-Identifier: MIT
#include "fake/simulation.hpp"

#include "cuda/driver_api.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace barmap::fake {
namespace {

[[noreturn]] void give_up(char const* why) {
    std::fprintf(stderr, "this test needs the simulated GPU (BARMAP_SIM=1): %s\n", why);
    std::abort();
}

// By the address of a function of the table: the library was loaded without global symbols.
void* loaded_library() {
    std::string why;
    cuda::driver_api const* const driver = cuda::try_api(why);
    if (!driver)
        give_up(why.c_str());
    if (!driver->simulated)
        give_up("the real driver is loaded");
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void*>(driver->init), &info) == 0)
        give_up("its library is not to be found");
    void* const library = ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    return library ? library : (give_up(::dlerror()), nullptr);
}

simulation look_up() {
    void* const library = loaded_library();
    simulation result{};
    auto const take = [&](auto& member, char const* symbol) {
        void* const address = ::dlsym(library, symbol);
        if (!address)
            give_up(symbol);
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(address);
    };
    take(result.object, "barmap_sim_object");
    take(result.fd_layout, "barmap_sim_fd_layout");
    take(result.fd_device, "barmap_sim_fd_device");
    take(result.address, "barmap_sim_address");
    take(result.reach, "barmap_sim_reach");
    take(result.calls, "barmap_sim_calls");
    take(result.fail, "barmap_sim_fail");
    take(result.live, "barmap_sim_live");
    take(result.bar1_total, "barmap_sim_bar1_total");
    take(result.client, "barmap_sim_client");
    take(result.gpu_id, "barmap_sim_gpu_id");
    take(result.uuid, "barmap_sim_uuid");
    return result;
}

} // namespace

simulation const& the_simulation() {
    static simulation const instance = look_up();
    return instance;
}

} // namespace barmap::fake
