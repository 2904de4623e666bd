// SPDX-License-Identifier: MIT
#include "os/library.hpp"

#include "os/calls.hpp"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>

namespace barmap::os {

library library::open(std::span<std::string const> names, std::string& why) {
    library result;
    for (std::string const& name : names) {
        result.handle_ = current().dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (result.handle_)
            return result;
        char const* text = ::dlerror();
        why = text ? text : name + " cannot be loaded";
    }
    return result;
}

void* library::symbol(char const* name) const noexcept {
    return handle_ ? current().dlsym(handle_, name) : nullptr;
}

library::~library() {
    if (handle_)
        current().dlclose(handle_);
}

void keep_loaded(char const* name) noexcept {
    if (void* const handle = current().dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
        current().dlclose(handle);
}

std::string own_folder() {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || !info.dli_fname)
        return ".";
    char resolved[PATH_MAX];
    std::string path = ::realpath(info.dli_fname, resolved) ? resolved : info.dli_fname;
    // A statically linked program is named by argv[0], which need not contain its folder.
    if (path.find('/') == std::string::npos && ::realpath("/proc/self/exe", resolved))
        path = resolved;
    std::size_t const slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

} // namespace barmap::os
