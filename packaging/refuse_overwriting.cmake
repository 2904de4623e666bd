# SPDX-License-Identifier: MIT
# Runs at the start of `cmake --install`: refuses to replace a file that barmap has not installed, and
# records what will be. Under DESTDIR, whoever makes the package knows what is replaced.
cmake_minimum_required(VERSION 3.22)
if(BARMAP_LISTING OR NOT "$ENV{DESTDIR}" STREQUAL "")
  return()
endif()

# What will be installed: found by installing it elsewhere.
set(staging ${BARMAP_BUILD}/install-staging)
file(REMOVE_RECURSE ${staging})
set(arguments -DCMAKE_INSTALL_PREFIX=${CMAKE_INSTALL_PREFIX} -DBARMAP_LISTING=ON)
foreach(variable CMAKE_INSTALL_COMPONENT CMAKE_INSTALL_CONFIG_NAME CMAKE_INSTALL_DO_STRIP)
  if(DEFINED ${variable})
    list(APPEND arguments -D${variable}=${${variable}})
  endif()
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -E env DESTDIR=${staging}
  ${CMAKE_COMMAND} ${arguments} -P ${BARMAP_BUILD}/cmake_install.cmake
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE staged LIST_DIRECTORIES true RELATIVE ${staging} ${staging}/*)

set(record ${CMAKE_INSTALL_PREFIX}/share/barmap/installed.txt)
set(ours "")
if(EXISTS ${record})
  file(STRINGS ${record} ours REGEX "^[^#]")
endif()
set(foreign "")
foreach(path IN LISTS staged ITEMS share/barmap/)
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY / OUTPUT_VARIABLE target)
  if(path STREQUAL "share/barmap/") # of the record
    set(target ${CMAKE_INSTALL_PREFIX}/share/barmap)
  endif()
  file(RELATIVE_PATH name ${CMAKE_INSTALL_PREFIX} ${target})
  if(name MATCHES "^\\.\\./") # outside of the prefix
    set(name ${target})
  elseif(name MATCHES "^(\\.\\.)?$") # the prefix, and what it lies in
    continue()
  endif()
  if((IS_DIRECTORY ${staging}/${path} AND NOT IS_SYMLINK ${staging}/${path}) OR path MATCHES "/$")
    if(NOT EXISTS ${target})
      list(APPEND ours ${name}/)
    endif()
    continue()
  endif()
  if((EXISTS ${target} OR IS_SYMLINK ${target}) AND NOT name IN_LIST ours)
    execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${target} ${staging}/${path}
      RESULT_VARIABLE differs OUTPUT_QUIET ERROR_QUIET)
    if(differs)
      string(APPEND foreign "\n  ${target}")
    endif()
  endif()
  list(APPEND ours ${name})
endforeach()
file(REMOVE_RECURSE ${staging})
if(foreign)
  message(FATAL_ERROR "barmap would replace files that are not barmap's:${foreign}\n"
    "Nothing was installed. Install into a directory of its own (--prefix /opt/barmap), or remove "
    "these files first, with what brought them.")
endif()

list(REMOVE_DUPLICATES ours)
list(SORT ours)
list(JOIN ours "\n" lines)
file(WRITE ${record} "# from ${BARMAP_BUILD}\n${lines}\n")
set(prefixes "")
if(EXISTS ${BARMAP_BUILD}/installed_prefixes.txt)
  file(STRINGS ${BARMAP_BUILD}/installed_prefixes.txt prefixes)
endif()
if(NOT CMAKE_INSTALL_PREFIX IN_LIST prefixes)
  file(APPEND ${BARMAP_BUILD}/installed_prefixes.txt "${CMAKE_INSTALL_PREFIX}\n")
endif()
