// SPDX-License-Identifier: MIT
#include "backend_engine.hpp"

#include <barmap/version.hpp>

#include <backend/backend_plugin.h>

#include <exception>

namespace {

nixlBackendEngine* create(nixlBackendInitParams const* parameters) noexcept {
    try {
        return new barmap::nixl::backend_engine(parameters);
    } catch (std::exception const& failure) {
        barmap::nixl::say(failure.what());
        return nullptr;
    }
}

void destroy(nixlBackendEngine* engine) noexcept {
    delete engine;
}

} // namespace

// The functions that NIXL looks for in a plug-in.

extern "C" NIXL_PLUGIN_EXPORT nixlBackendPlugin* nixl_plugin_init() {
    static nixlBackendPlugin plugin = {
        NIXL_PLUGIN_API_VERSION,
        create,
        destroy,
        [] { return "BARMAP"; },
        [] { return barmap::version().data(); },
        [] {
            return nixl_b_params_t{{"gpu", "0"}};
        },
        [] {
            return nixl_mem_list_t{DRAM_SEG, VRAM_SEG};
        },
    };
    return &plugin;
}

extern "C" NIXL_PLUGIN_EXPORT void nixl_plugin_fini() {}
