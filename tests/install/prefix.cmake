# Installs BUILD, moves the result to PREFIX, and looks for what must be there.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE error)
  if(result)
    message(FATAL_ERROR "${ARGV}: ${result}\n${error}")
  endif()
endfunction()

file(REMOVE_RECURSE ${PREFIX} ${PREFIX}.first)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}.first)
file(RENAME ${PREFIX}.first ${PREFIX})

set(expected
  ${LIBDIR}/libbarmap.so ${LIBDIR}/libbarmap.so.${SOVERSION} ${LIBDIR}/libbarmap.so.${SOVERSION}.${VERSION}
  ${LIBDIR}/libbarmap.a
  ${LIBDIR}/barmap-sim/libcuda.so.1
  ${LIBDIR}/cmake/barmap/barmapConfig.cmake ${LIBDIR}/cmake/barmap/barmapConfigVersion.cmake
  ${LIBDIR}/cmake/barmap/barmapTargets.cmake
  ${LIBDIR}/pkgconfig/barmap.pc
  share/man/man3/barmap.3 share/man/man3/barmap_open.3 share/man/man3/barmap_pin_memory.3)
if(SHIMS)
  list(APPEND expected ${LIBDIR}/libvkgdr.so ${LIBDIR}/libvkgdr.so.1 ${INCLUDEDIR}/vkgdr.h)
endif()
if(TOOLS)
  list(APPEND expected ${BINDIR}/barmap ${LIBEXECDIR}/barmap/validate)
  list(APPEND expected share/man/man1/barmap.1 share/bash-completion/completions/barmap
    share/zsh/site-functions/_barmap share/fish/vendor_completions.d/barmap.fish)
  foreach(program sanity copybw copylat apiperf pplat validate)
    list(APPEND expected ${BINDIR}/gdrcopy_${program} share/man/man1/gdrcopy_${program}.1)
  endforeach()
endif()
file(GLOB headers RELATIVE ${HEADERS} ${HEADERS}/*.hpp ${HEADERS}/*.h)
foreach(header ${headers})
  list(APPEND expected ${INCLUDEDIR}/barmap/${header})
endforeach()
foreach(path ${expected})
  if(NOT EXISTS ${PREFIX}/${path})
    message(SEND_ERROR "${path} is not installed")
  endif()
endforeach()

# Nothing but barmap's own: no test library, no header of the rooms inside.
file(GLOB_RECURSE installed RELATIVE ${PREFIX} ${PREFIX}/*)
foreach(path ${installed})
  if(NOT path MATCHES "barmap|gdrcopy_|gdrapi|gdrconfig|vkgdr")
    message(SEND_ERROR "${path} should not be installed")
  endif()
endforeach()
