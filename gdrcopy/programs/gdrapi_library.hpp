// SPDX-License-Identifier: MIT
#pragma once

#include <gdrapi.h>

#include <stdexcept>
#include <string>

/// The programs of gdrcopy, under their own names: what they measure and test is whichever
/// libgdrapi the loader finds, so that barmap's and the original can be compared by one program.
namespace barmap::tool::gdrcopy {

// X(name without gdr_). All of them are in libgdrapi 2.5 and newer.
#define BARMAP_GDRAPI_FUNCTIONS(X)                                                                 \
    X(open)                                                                                        \
    X(close)                                                                                       \
    X(pin_buffer)                                                                                  \
    X(pin_buffer_v2)                                                                               \
    X(unpin_buffer)                                                                                \
    X(get_info_v2)                                                                                 \
    X(map)                                                                                         \
    X(map_v2)                                                                                      \
    X(unmap)                                                                                       \
    X(copy_to_mapping)                                                                             \
    X(copy_from_mapping)                                                                           \
    X(runtime_get_version)                                                                         \
    X(driver_get_version)                                                                          \
    X(get_attribute)                                                                               \
    X(get_mapping_type_string)

/// The functions of libgdrapi.so.2, loaded at run time: from LD_LIBRARY_PATH, else from the lib
/// directory beside this program, else from where the system's loader searches.
struct gdrapi_library {
#define BARMAP_GDRAPI_MEMBER(name) decltype(&::gdr_##name) name = nullptr;
    BARMAP_GDRAPI_FUNCTIONS(BARMAP_GDRAPI_MEMBER)
#undef BARMAP_GDRAPI_MEMBER
    std::string path;         ///< of the file that was loaded
    bool beside_tool = false; ///< it is the one that was built or installed with this program
};

/// The library, loaded at first use and never unloaded. Starts no driver: it may be called before a
/// fork. Thread-safe.
/// @throws std::runtime_error if it, or a function of it, is missing; the text says what to do
[[nodiscard]] gdrapi_library const& gdrapi();

/// A call of libgdrapi that did not give 0.
struct call_failed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[noreturn]] void throw_call_failed(int result, char const* call);

/// @throws call_failed with the call's name and the meaning of the errno value, unless it is 0
inline void check_call(int result, char const* call) {
    if (result != 0)
        throw_call_failed(result, call);
}

} // namespace barmap::tool::gdrcopy
