# SPDX-License-Identifier: MIT
# Installs BUILD, moves the result to PREFIX, and looks for what must be there.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE error)
  if(result)
    message(FATAL_ERROR "${ARGV}: ${result}\n${error}")
  endif()
endfunction()

file(REMOVE_RECURSE ${PREFIX} ${PREFIX}.first)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}.first)

# Names that belong to gdrcopy and vkgdr come only when they are asked for.
file(GLOB_RECURSE installed RELATIVE ${PREFIX}.first ${PREFIX}.first/*)
foreach(path ${installed})
  if(path MATCHES "gdrapi|gdrconfig|gdrcopy|vkgdr|validate" AND NOT path MATCHES "^share/doc/barmap/")
    message(SEND_ERROR "${path} is installed without being asked for")
  endif()
endforeach()
if(GDRCOPY OR VKGDR)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}.first --component dropins)
endif()
file(RENAME ${PREFIX}.first ${PREFIX})

set(expected
  ${LIBDIR}/libbarmap.so ${LIBDIR}/libbarmap.so.${SOVERSION} ${LIBDIR}/libbarmap.so.${SOVERSION}.${VERSION}
  ${LIBDIR}/libbarmap.a
  ${LIBDIR}/barmap-sim/libcuda.so.1
  ${LIBDIR}/cmake/barmap/barmapConfig.cmake ${LIBDIR}/cmake/barmap/barmapConfigVersion.cmake
  ${LIBDIR}/cmake/barmap/barmapTargets.cmake
  ${LIBDIR}/pkgconfig/barmap.pc
  share/man/man3/barmap.3 share/man/man3/barmap_device_create.3 share/man/man3/barmap_pin_create.3
  share/man/man3/barmap-signal.3 share/man/man3/barmap_ring_to_gpu_push.3 share/man/man3/barmap_host_buffer_create.3
  share/man/man3/barmap_checkpoint_prepare.3)
set(dropins ${LIBDIR}/barmap-dropins)
if(PRELOAD)
  list(APPEND expected ${LIBDIR}/libbarmap-memcpy.so)
endif()
if(VKGDR)
  list(APPEND expected ${dropins}/lib/libvkgdr.so ${dropins}/lib/libvkgdr.so.1
    ${dropins}/lib/cmake/barmap/vkgdrTargets.cmake ${dropins}/include/vkgdr.h)
endif()
if(GDRCOPY)
  list(APPEND expected ${dropins}/lib/libgdrapi.so ${dropins}/lib/libgdrapi.so.2
    ${dropins}/include/gdrapi.h ${dropins}/include/gdrconfig.h
    ${dropins}/share/man/man3/gdrapi.3 ${dropins}/share/man/man3/gdr_pin_buffer.3)
endif()
if(PROGRAM)
  list(APPEND expected ${BINDIR}/barmap share/man/man1/barmap.1 share/man/man1/barmap-lat.1 share/man/man1/barmap-run.1 share/bash-completion/completions/barmap
    share/zsh/site-functions/_barmap share/fish/vendor_completions.d/barmap.fish)
  if(GDRCOPY)
    list(APPEND expected ${dropins}/libexec/barmap/validate)
    foreach(program sanity copybw copylat apiperf pplat validate)
      list(APPEND expected ${dropins}/bin/gdrcopy_${program}
        ${dropins}/share/man/man1/gdrcopy_${program}.1)
    endforeach()
  endif()
endif()
file(GLOB headers RELATIVE ${HEADERS} ${HEADERS}/*.hpp ${HEADERS}/*.h)
list(APPEND expected share/doc/barmap/ordering.md share/doc/barmap/measuring.md)
foreach(header ${headers})
  list(APPEND expected ${INCLUDEDIR}/barmap/${header})
endforeach()
foreach(path ${expected})
  if(NOT EXISTS ${PREFIX}/${path})
    message(SEND_ERROR "${path} is not installed")
  endif()
endforeach()

# Nothing but barmap's own: no test library, no header of the sources inside.
file(GLOB_RECURSE installed RELATIVE ${PREFIX} ${PREFIX}/*)
foreach(path ${installed})
  if(NOT path MATCHES "barmap")
    message(SEND_ERROR "${path} should not be installed")
  endif()
endforeach()
