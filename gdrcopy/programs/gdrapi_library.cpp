// SPDX-License-Identifier: MIT
#include "gdrcopy/programs/gdrapi_library.hpp"

#include "output/formatted.hpp"
#include "system/library.hpp"

#include <array>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>

namespace barmap::tool::gdrcopy {
namespace {

constexpr char const* library_name = "libgdrapi.so.2";

std::string path_of(void* symbol) {
    Dl_info info{};
    std::error_code ignored;
    if (::dladdr(symbol, &info) == 0 || !info.dli_fname)
        return library_name;
    return std::filesystem::weakly_canonical(info.dli_fname, ignored).string();
}

bool is_beside_tool(std::filesystem::path const& library) {
    // Where it is built, and where it is installed.
    for (char const* folder : {"../lib", BARMAP_TOOL_TO_LIB}) {
        std::error_code ignored;
        auto const beside = std::filesystem::path(os::own_folder()) / folder;
        if (library.parent_path() == std::filesystem::weakly_canonical(beside, ignored))
            return true;
    }
    return false;
}

gdrapi_library load() {
    std::array<std::string, 1> const names{library_name};
    std::string why;
    os::library library = os::library::open(names, why);
    if (!library)
        throw std::runtime_error(
            formatted("cannot load {}: {}. Build or install barmap with its libgdrapi, which lies "
                      "in the lib directory beside this program, or name the directory of another "
                      "libgdrapi in LD_LIBRARY_PATH",
                      library_name, why));
    gdrapi_library result;
    result.path = path_of(library.symbol("gdr_open"));
    result.beside_tool = is_beside_tool(result.path);
    auto const find = [&](char const* symbol, auto& member) {
        void* const address = library.symbol(symbol);
        if (!address)
            throw std::runtime_error(
                formatted("{} has no function {}: use barmap's libgdrapi, or gdrcopy 2.5 or newer",
                          result.path, symbol));
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(address);
    };
#define BARMAP_GDRAPI_FIND(name) find("gdr_" #name, result.name);
    BARMAP_GDRAPI_FUNCTIONS(BARMAP_GDRAPI_FIND)
#undef BARMAP_GDRAPI_FIND
    library.abandon();
    return result;
}

} // namespace

gdrapi_library const& gdrapi() {
    static gdrapi_library const loaded = load();
    return loaded;
}

void throw_call_failed(int result, char const* call) {
    throw call_failed(formatted("{} gave {} ({})", call, result, std::strerror(result)));
}

} // namespace barmap::tool::gdrcopy
