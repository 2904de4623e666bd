# The GPU kernels are PTX files beside the code that loads them. The build embeds each as a C++ constant.
# barmap_embed_ptx(TARGET FILE.ptx...): the sources of TARGET may include "FILE.ptx.hpp", which defines
# barmap::ptx::FILE, the text of the file. An edit of the file configures anew. The assembler's .incbin would
# need no header, but neither ninja nor ccache would see that dependency.
function(barmap_embed_ptx target)
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    file(READ ${file} text)
    get_filename_component(name ${file} NAME_WE)
    file(CONFIGURE OUTPUT ${file}.hpp @ONLY CONTENT [[
// SPDX-License-Identifier: MIT
// Made by packaging/ptx.cmake from @file@: change that.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings" // of clang, for more than 64 KiB

namespace barmap::ptx {

inline constexpr char const* @name@ = R"ptx(@text@)ptx";

} // namespace barmap::ptx

#pragma GCC diagnostic pop
]])
  endforeach()
  target_include_directories(${target} PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
