// SPDX-License-Identifier: MIT
#include "kernels.hpp"
#include "world.hpp"

#include <cstring>

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

CUresult load(CUmodule* handle, void const* image) {
    context const& owner = current_context();
    auto& told = out(handle);
    require(image != nullptr);
    // PTX is text; an ELF file or a fat binary does not start with a printable character.
    auto const* const text = static_cast<char const*>(image);
    bool const printable = (*text >= ' ' && *text <= '~') || *text == '\n' || *text == '\t';
    require(printable && std::strstr(text, ".version"), error_invalid_image);
    auto made = std::make_shared<module>();
    made->owner = owner.self;
    told = the_world().modules.add(std::move(made));
    return success;
}

CUresult launch(CUfunction handle, CUstream stream, unsigned blocks, void** parameters,
                void** extra) {
    auto const found = the_world().functions.get(handle);
    auto const queue = get_stream(stream);
    // Whatever context is current (driver 580.159.04 on an H100).
    require(the_world().modules.get(found->owner)->owner == queue->owner, error_invalid_handle);
    require(extra == nullptr);
    the_world().work.submit(queue, found->code->bind(parameters, blocks));
    return success;
}

/// CUlaunchConfig
struct launch_config {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    CUstream stream;
    void* attributes;
    unsigned attribute_count;
};

bool has_threads(unsigned const (&dimensions)[3]) {
    return dimensions[0] && dimensions[1] && dimensions[2];
}

} // namespace

BARMAP_SIM_ENTRY cuModuleLoadData(CUmodule* handle, void const* image) {
    return call("cuModuleLoadData", [&](world_lock&) { return load(handle, image); });
}

BARMAP_SIM_ENTRY cuModuleLoadDataEx(CUmodule* handle, void const* image, unsigned, int*, void**) {
    return call("cuModuleLoadDataEx", [&](world_lock&) { return load(handle, image); });
}

BARMAP_SIM_ENTRY cuModuleUnload(CUmodule handle) {
    return call("cuModuleUnload", [&](world_lock& lock) {
        auto const gone = the_world().modules.get(handle);
        drain(live_context(gone->owner), lock);
        the_world().functions.erase_if([&](function const& one) { return one.owner == handle; });
        the_world().modules.take(handle);
    });
}

BARMAP_SIM_ENTRY cuModuleGetFunction(CUfunction* handle, CUmodule owner, char const* name) {
    return call("cuModuleGetFunction", [&](world_lock&) {
        (void)the_world().modules.get(owner);
        auto& told = out(handle);
        require(name && *name);
        kernel const* const code = find_routine(name);
        require(code != nullptr, error_not_found);
        auto made = std::make_shared<function>();
        made->owner = owner;
        made->code = code;
        told = the_world().functions.add(std::move(made));
    });
}

BARMAP_SIM_ENTRY cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned, CUstream stream, void** parameters,
                                void** extra) {
    return call("cuLaunchKernel", [&](world_lock&) {
        require(has_threads({grid_x, grid_y, grid_z}) && has_threads({block_x, block_y, block_z}));
        return launch(function, stream, grid_x * grid_y * grid_z, parameters, extra);
    });
}

BARMAP_SIM_ENTRY cuLaunchKernelEx(launch_config const* config, CUfunction function,
                                  void** parameters, void** extra) {
    return call("cuLaunchKernelEx", [&](world_lock&) {
        require(config && has_threads(config->grid) && has_threads(config->block));
        unsigned const(&grid)[3] = config->grid;
        return launch(function, config->stream, grid[0] * grid[1] * grid[2], parameters, extra);
    });
}
