// SPDX-License-Identifier: MIT
#include "base/library.hpp"

#include "base/calls.hpp"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

namespace barmap::os {

library library::open(std::span<std::string const> names, std::string& why) {
    for (std::string const& name : names) {
        library result;
        result.handle_ = current().dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (result.handle_)
            return result;
        char const* text = ::dlerror();
        why = text ? text : name + " cannot be loaded";
    }
    return {};
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
    ::link_map* object = nullptr;
    // The program itself has no name there; dladdr's would be argv[0], which its caller chooses.
    bool const named = ::dladdr1(reinterpret_cast<void*>(&own_folder), &info,
                                 reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) != 0 &&
                       object && *object->l_name;
    char const* const file = named ? object->l_name : "/proc/self/exe";
    char resolved[PATH_MAX];
    if (!::realpath(file, resolved))
        return {};
    std::string const path = resolved;
    return path.substr(0, path.rfind('/'));
}

} // namespace barmap::os
