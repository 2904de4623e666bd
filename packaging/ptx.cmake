# SPDX-License-Identifier: MIT
# Kernels for GPUs are PTX, which the build embeds as C++ constants: the sources of TARGET may include
# "FILE.ptx.hpp", which defines barmap::ptx::FILE, the text. The assembler's .incbin would need no header, but neither
# ninja nor ccache would see that dependency.
#   barmap_embed_ptx(FILE.ptx...)         PTX beside the code that loads it. An edit of it configures anew.
#   barmap_make_ptx(TARGET FILE.cu...)    kernels that the build compiles; without BARMAP_PTX_COMPILER the constant is
#                                         null.
# The headers lie in the build tree where the files lie in the source tree: TARGET needs the build directory that
# corresponds to the file's on its include path.
set(BARMAP_PTX_COMPILER AUTO CACHE STRING
  "Compiler of GPU kernels: the name or path of clang++ or nvcc, AUTO for one that is found and works, or OFF")
set(barmap_ptx_folder ${CMAKE_CURRENT_LIST_DIR})

# Sets barmap_ptx_compiler, empty if there is none: before barmap_make_ptx.
function(barmap_find_ptx_compiler)
  set(tried ${BARMAP_PTX_COMPILER})
  set(barmap_ptx_compiler PARENT_SCOPE)
  if(BARMAP_PTX_COMPILER STREQUAL "AUTO")
    find_program(BARMAP_CLANG clang++)
    find_program(BARMAP_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(BARMAP_CLANG BARMAP_NVCC)
    set(tried ${BARMAP_CLANG} ${BARMAP_NVCC})
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      list(PREPEND tried ${CMAKE_CXX_COMPILER})
    endif()
    list(FILTER tried EXCLUDE REGEX "-NOTFOUND$")
  elseif(NOT BARMAP_PTX_COMPILER)
    return()
  endif()
  foreach(compiler IN LISTS tried)
    execute_process(
      COMMAND ${CMAKE_COMMAND} -D COMPILER=${compiler} -D SOURCE=${barmap_ptx_folder}/../core/src/signal/step_kernels.cu
        -D OUTPUT=${PROJECT_BINARY_DIR}/CMakeFiles/tried.ptx -P ${barmap_ptx_folder}/make_ptx.cmake
      RESULT_VARIABLE status ERROR_VARIABLE said)
    if(status STREQUAL 0)
      set(barmap_ptx_compiler ${compiler} PARENT_SCOPE)
      message(STATUS "Kernels of barmap ring: compiled by ${compiler}")
      return()
    endif()
  endforeach()
  if(NOT BARMAP_PTX_COMPILER STREQUAL "AUTO")
    message(FATAL_ERROR "BARMAP_PTX_COMPILER: ${said}")
  endif()
  message(STATUS "barmap ring: without kernels, since neither clang++ (14 or newer) nor nvcc compiles them")
endfunction()

function(barmap_embed_ptx)
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    file(READ ${file} text)
    set(text "R\"ptx(${text})ptx\"")
    get_filename_component(name ${file} NAME_WE)
    configure_file(${barmap_ptx_folder}/ptx.hpp.in ${file}.hpp @ONLY)
  endforeach()
endfunction()

function(barmap_make_ptx target)
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME_WE)
    string(REGEX REPLACE "\\.cu$" ".ptx" made ${CMAKE_CURRENT_BINARY_DIR}/${file})
    get_filename_component(folder ${made} DIRECTORY)
    file(MAKE_DIRECTORY ${folder}) # which not every generator does
    if(barmap_ptx_compiler)
      add_custom_command(OUTPUT ${made} ${made}.hpp
        COMMAND ${CMAKE_COMMAND} -D COMPILER=${barmap_ptx_compiler} -D SOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${file}
          -D OUTPUT=${made} -D DEPFILE=${made}.d -D HEADER=${made}.hpp
          -D WERROR=${BARMAP_WERROR} -P ${barmap_ptx_folder}/make_ptx.cmake
        DEPENDS ${file} ${barmap_ptx_folder}/make_ptx.cmake ${barmap_ptx_folder}/ptx.hpp.in
        DEPFILE ${made}.d
        COMMENT "Compiling ${file} to PTX" VERBATIM)
    else()
      file(REMOVE ${made}) # a build with a compiler makes both again
      set(text nullptr)
      configure_file(${barmap_ptx_folder}/ptx.hpp.in ${made}.hpp @ONLY)
    endif()
    target_sources(${target} PRIVATE ${made}.hpp)
  endforeach()
endfunction()
