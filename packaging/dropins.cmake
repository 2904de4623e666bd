# SPDX-License-Identifier: MIT
# Where the drop-in libraries, their headers and programs are installed. They have the names of other
# projects' files: only who asks for the component gets them, into a directory that stands for such a
# project's prefix. A package, whose manager knows what it replaces, sets BARMAP_DROPINS_IN_PREFIX.
if(BARMAP_DROPINS_IN_PREFIX OR SKBUILD)
  set(dropins_bindir ${CMAKE_INSTALL_BINDIR})
  set(dropins_full_bindir ${CMAKE_INSTALL_FULL_BINDIR})
  set(dropins_includedir ${CMAKE_INSTALL_INCLUDEDIR})
  set(dropins_libdir ${CMAKE_INSTALL_LIBDIR})
  set(dropins_full_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(dropins_libexecdir ${CMAKE_INSTALL_LIBEXECDIR})
  set(dropins_full_libexecdir ${CMAKE_INSTALL_FULL_LIBEXECDIR})
  set(dropins_mandir ${CMAKE_INSTALL_MANDIR})
  set(dropins_component COMPONENT dropins)
  set(core_from_dropins .)
else()
  set(dropins ${CMAKE_INSTALL_LIBDIR}/barmap-dropins)
  set(dropins_full ${CMAKE_INSTALL_FULL_LIBDIR}/barmap-dropins)
  set(dropins_bindir ${dropins}/bin)
  set(dropins_full_bindir ${dropins_full}/bin)
  set(dropins_includedir ${dropins}/include)
  set(dropins_libdir ${dropins}/lib)
  set(dropins_full_libdir ${dropins_full}/lib)
  set(dropins_libexecdir ${dropins}/libexec)
  set(dropins_full_libexecdir ${dropins_full}/libexec)
  set(dropins_mandir ${dropins}/share/man)
  set(dropins_component COMPONENT dropins EXCLUDE_FROM_ALL)
  set(core_from_dropins ../..) # where they find libbarmap.so.1
endif()

# Installs a symbolic link of the build tree among the drop-in libraries, if what it leads to is installed: the
# component may be installed alone, without the program and the simulated GPU. A package's links lead to other packages.
function(barmap_install_dropin_link link directory)
  if(BARMAP_DROPINS_IN_PREFIX)
    install(FILES ${link} DESTINATION ${directory} ${dropins_component})
    return()
  endif()
  install(CODE "set(link \"${link}\")
set(directory \"${directory}\")
include(\"${PROJECT_SOURCE_DIR}/packaging/install_link.cmake\")" ${dropins_component})
endfunction()

# How a library is linked that has another project's interface, or is loaded into other programs.
function(barmap_dropin_options target)
  if(BARMAP_SANITIZE)
    return()
  endif()
  target_link_options(${target} PRIVATE LINKER:--no-undefined)
  if(BARMAP_STATIC_RUNTIME)
    # The program's C++ runtime may be older: each brings its own, and shows nothing of it.
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
