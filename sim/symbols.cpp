// SPDX-License-Identifier: MIT
#include "entry.hpp"

#include <dlfcn.h>
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
};

void* own_symbol(std::string const& name) {
    static void* const self = [] {
        Dl_info about{};
        static int const anchor = 0;
        return dladdr(&anchor, &about) ? dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    }();
    return self ? dlsym(self, name.c_str()) : nullptr;
}

void* look_up(std::string const& name, int version) {
    if (!name.starts_with("cu"))
        return nullptr;
    for (versioned const& known : versions)
        if (name == known.name && version >= known.since)
            return own_symbol(known.symbol);
    void* const newer = own_symbol(name + "_v2");
    return newer ? newer : own_symbol(name);
}

enum symbol_status { found = 0, not_found = 1 };

CUresult answer(char const* name, void** function, int version, int* status) {
    require(name != nullptr);
    void*& told = out(function);
    told = look_up(name, version);
    if (status)
        *status = told ? found : not_found;
    return told ? success : error_not_found;
}

} // namespace

BARMAP_SIM_ENTRY cuGetProcAddress(char const* name, void** function, int version,
                                  unsigned long long) {
    return call(
        "cuGetProcAddress", [&](world_lock&) { return answer(name, function, version, nullptr); },
        true);
}

BARMAP_SIM_ENTRY cuGetProcAddress_v2(char const* name, void** function, int version,
                                     unsigned long long, int* status) {
    return call(
        "cuGetProcAddress", [&](world_lock&) { return answer(name, function, version, status); },
        true);
}
