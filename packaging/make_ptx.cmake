# SPDX-License-Identifier: MIT
# Makes PTX of the kernels in a .cu file:
#   cmake -D COMPILER=clang++ -D SOURCE=FILE.cu -D OUTPUT=FILE.ptx [-D HEADER=FILE.ptx.hpp] [-D DEPFILE=FILE.d] \
#     [-D WERROR=ON] -P packaging/make_ptx.cmake
# COMPILER is clang, from 14 on, which needs no CUDA toolkit, or nvcc. The PTX is of version 6.4 for sm_70: every
# driver from R418 and every GPU from Volta on takes it, whatever made it. BARMAP_KERNEL is what the kernels of such
# a file would call __global__.
cmake_minimum_required(VERSION 3.22)
foreach(name COMPILER SOURCE OUTPUT)
  if(NOT ${name})
    message(FATAL_ERROR "make_ptx.cmake: ${name} is not set; its first lines say what it takes")
  endif()
endforeach()
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
get_filename_component(source ${SOURCE} ABSOLUTE)
get_filename_component(source_name ${SOURCE} NAME)
set(common -std=c++17 -I${root}/core/include -o ${OUTPUT}.made)
if(DEPFILE)
  string(REPLACE " " "\\ " escaped ${OUTPUT})
  list(APPEND common -MD -MF ${DEPFILE} -MT ${escaped})
endif()

# Runs the compiler. `made` is the PTX, or empty; `said` is what the compiler said.
macro(compile)
  execute_process(COMMAND ${COMPILER} ${ARGN} ${common} ${source}
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  set(made)
  if(status STREQUAL 0)
    file(READ ${OUTPUT}.made made)
    file(REMOVE ${OUTPUT}.made)
  endif()
endmacro()

get_filename_component(compiler_name ${COMPILER} NAME)
if(compiler_name MATCHES "nvcc")
  execute_process(COMMAND ${COMPILER} --version OUTPUT_VARIABLE version)
  string(REGEX MATCH "release [0-9.]+" version "${version}")
  string(REPLACE "release" "nvcc" version "${version}")
  compile(-ptx -arch=sm_70 -DBARMAP_KERNEL=__global__)
  if(NOT made) # CUDA 13 has no sm_70
    compile(-ptx -arch=sm_75 -DBARMAP_KERNEL=__global__)
  endif()
  # nvcc writes its own version, which older drivers refuse; ptxas tells whether the code needs it.
  string(REGEX REPLACE "\n\\.version [0-9.]+\n\\.target [a-z0-9_]+" "\n.version 6.4\n.target sm_70" made "${made}")
  if(made)
    get_filename_component(toolkit ${COMPILER} REALPATH)
    get_filename_component(toolkit ${toolkit} DIRECTORY)
    find_program(PTXAS ptxas HINTS ${toolkit})
    file(WRITE ${OUTPUT}.made "${made}")
    execute_process(COMMAND ${PTXAS} -arch=sm_80 -o ${OUTPUT}.cubin ${OUTPUT}.made
      RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    file(REMOVE ${OUTPUT}.made ${OUTPUT}.cubin)
    if(NOT status STREQUAL 0)
      set(made)
    endif()
  endif()
else()
  execute_process(COMMAND ${COMPILER} --version OUTPUT_VARIABLE version)
  string(REGEX MATCH "clang version [0-9]+" version "${version}")
  string(REPLACE " version" "" version "${version}")
  set(clang -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -O2
    # Else large messages lie in local memory and are copied byte by byte.
    -mllvm -unroll-threshold=1000 -mllvm -inline-threshold=100000
    -Wall -Wextra -Wno-unknown-cuda-version
    -D__device__=__attribute__\(\(device\)\) -D__host__=__attribute__\(\(host\)\)
    -DBARMAP_KERNEL=__attribute__\(\(global\)\) -S)
  if(WERROR)
    list(APPEND clang -Werror)
  endif()
  # Newer versions would write their newest PTX without the first; older ones know the second alone.
  compile(${clang} --cuda-feature=+ptx64)
  if(NOT made)
    compile(${clang} -Xclang -target-feature -Xclang +ptx64)
  endif()
endif()

if(NOT made MATCHES "\n\\.version 6\\.4\n\\.target sm_70\n")
  message(FATAL_ERROR "${COMPILER} does not make PTX 6.4 for sm_70 of ${SOURCE}:\n${said}${made}")
endif()
string(REGEX REPLACE "//[^\n]*" "" made "${made}")
string(REGEX REPLACE "[ \t]+" " " made "${made}")
string(REGEX REPLACE " ?\n ?" "\n" made "${made}")
string(REGEX REPLACE "\n\n+" "\n" made "${made}")
string(REGEX REPLACE "^\n" "" made "${made}")
set(text "// SPDX-License-Identifier: MIT
// Made by packaging/make_ptx.cmake with ${version} from ${source_name}: change that.
${made}")
file(WRITE ${OUTPUT} "${text}")
if(HEADER)
  set(text "R\"ptx(${text})ptx\"")
  set(file ${source_name})
  get_filename_component(name ${SOURCE} NAME_WE)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/ptx.hpp.in ${HEADER} @ONLY)
endif()
