// SPDX-License-Identifier: MIT
#include "entry.hpp"
#include "world.hpp"

#include <algorithm>
#include <string>

using namespace barmap::cuda;
using namespace barmap::sim;

namespace {

/// Functions whose newer version has another signature: which one a program gets depends on the
/// CUDA version that it was written for. All others have one version here, with or without "_v2".
struct versioned {
    char const* name;
    char const* symbol;
    int since;
};
constexpr versioned versions[] = {
    {"cuCtxCreate", "cuCtxCreate_v4", 12050},
    {"cuCtxCreate", "cuCtxCreate_v3", 11040},
    {"cuGetProcAddress", "cuGetProcAddress_v2", 12000},
    {"cuGetProcAddress", "cuGetProcAddress", 11030},
    {"cuMemcpyBatchAsync", "cuMemcpyBatchAsync_v2", 13000},
    {"cuMemcpyBatchAsync", "cuMemcpyBatchAsync", 12080},
    {"cuMemcpyBatchAsync", "", 0}, // there was none
};

void* look_up(std::string const& name, int version) {
    // A version is asked for by number, not by name.
    if (!name.starts_with("cu") || name.find("_v") != std::string::npos)
        return nullptr;
    // The driver lacks functions that are newer than it, whatever version is asked for.
    int const newest = std::min(version, the_world().driver_version);
    for (versioned const& known : versions)
        if (name == known.name && newest >= known.since)
            return own_symbol(known.symbol);
    void* const newer = own_symbol(name + "_v2");
    return newer ? newer : own_symbol(name);
}

} // namespace

bool barmap::sim::has_function(std::string const& name) {
    for (char const* const suffix : {"", "_v2", "_v3", "_v4"})
        if (own_symbol(name + suffix))
            return true;
    return false;
}

namespace {

enum symbol_status { found = 0, not_found = 1 };

} // namespace

BARMAP_SIM_ENTRY cuGetProcAddress(char const* name, void** function, int version,
                                  unsigned long long) {
    return constant_call("cuGetProcAddress", [&] {
        require(name != nullptr);
        out(function) = look_up(name, version);
        return *function ? success : error_not_found;
    });
}

// Unlike its predecessor this one succeeds where there is no such symbol, if told where to say so.
BARMAP_SIM_ENTRY cuGetProcAddress_v2(char const* name, void** function, int version,
                                     unsigned long long, int* status) {
    return constant_call("cuGetProcAddress", [&] {
        require(name != nullptr);
        out(function) = look_up(name, version);
        if (status)
            *status = *function ? found : not_found;
        return *function || status ? success : error_not_found;
    });
}
