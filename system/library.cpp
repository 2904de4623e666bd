// SPDX-License-Identifier: MIT
#include "system/library.hpp"

#include "system/calls.hpp"

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

void* library::symbol_of(void* library, char const* name) noexcept {
    return library ? current().dlsym(library, name) : nullptr;
}

library::~library() {
    if (handle_)
        current().dlclose(handle_);
}

namespace {

bool open_if_loaded(char const* name, int flags) noexcept {
    void* const handle = current().dlopen(name, RTLD_LAZY | RTLD_NOLOAD | flags);
    if (handle)
        current().dlclose(handle);
    return handle != nullptr;
}

} // namespace

bool is_loaded(char const* name) noexcept {
    return open_if_loaded(name, 0);
}

void keep_loaded(char const* name) noexcept {
    (void)open_if_loaded(name, RTLD_NODELETE);
}

namespace {

/// Of the library that contains this code; null where the program itself does, which has no name
/// there (dladdr's would be argv[0], which its caller chooses).
char const* own_file() noexcept {
    Dl_info info{};
    ::link_map* object = nullptr;
    bool const named = ::dladdr1(reinterpret_cast<void*>(&own_file), &info,
                                 reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) != 0 &&
                       object && *object->l_name;
    return named ? object->l_name : nullptr;
}

} // namespace

void keep_own_code_loaded() noexcept {
    if (char const* const file = own_file())
        keep_loaded(file);
}

std::string own_folder() {
    char const* const file = own_file();
    char resolved[PATH_MAX];
    if (!::realpath(file ? file : "/proc/self/exe", resolved))
        return {};
    std::string const path = resolved;
    return path.substr(0, path.rfind('/'));
}

} // namespace barmap::os
