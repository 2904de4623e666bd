# SPDX-License-Identifier: MIT
# Compiles a program with the flags that pkg-config gives, nothing else, and runs it.
set(ENV{PKG_CONFIG_PATH} ${PREFIX}/${LIBDIR}/pkgconfig)
function(ask variable)
  execute_process(COMMAND ${PKG_CONFIG} ${ARGN} barmap OUTPUT_VARIABLE answer
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(answer UNIX_COMMAND "${answer}")
  set(${variable} ${answer} PARENT_SCOPE)
endfunction()

ask(version --modversion)
if(NOT version STREQUAL VERSION)
  message(FATAL_ERROR "barmap.pc says version ${version}, not ${VERSION}")
endif()
ask(dropins_dir --variable=dropins_dir)
if(GDRCOPY AND NOT EXISTS ${dropins_dir}/lib/libgdrapi.so.2)
  message(FATAL_ERROR "barmap.pc says that the drop-in libraries are in ${dropins_dir}")
endif()
ask(cflags --cflags)
ask(libs --libs)
execute_process(COMMAND ${COMPILER} -std=c++20 ${cflags} ${SOURCE}
  -o ${OUTPUT} ${libs} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OUTPUT} COMMAND_ERROR_IS_FATAL ANY)

# The C interface, for a compiler that knows nothing of C++.
execute_process(COMMAND ${C_COMPILER} -std=c11 ${cflags} ${C_SOURCE} -o ${OUTPUT}_c ${libs}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OUTPUT}_c COMMAND_ERROR_IS_FATAL ANY)

# The same from the static library, with what it needs by itself.
ask(static_libs --static --libs)
list(TRANSFORM static_libs REPLACE "^-lbarmap$" "-l:libbarmap.a")
execute_process(COMMAND ${COMPILER} -std=c++20 ${cflags} ${SOURCE}
  -o ${OUTPUT}_static ${static_libs} COMMAND_ERROR_IS_FATAL ANY)
set(ENV{BARMAP_SIM_LIBRARY} ${PREFIX}/${LIBDIR}/barmap-sim/libcuda.so.1)
execute_process(COMMAND ${OUTPUT}_static COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${C_COMPILER} -std=c11 ${cflags} ${C_SOURCE} -o ${OUTPUT}_c_static
  ${static_libs} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OUTPUT}_c_static COMMAND_ERROR_IS_FATAL ANY)
