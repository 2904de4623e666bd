# SPDX-License-Identifier: MIT
# `uninstall` removes what its build directory has installed into the prefix that it is told, and nothing else; and no
# link of the drop-in libraries leads nowhere. WORK is an empty directory, SOURCE the sources of barmap, GENERATOR
# CMake's.
file(REMOVE_RECURSE ${WORK})
foreach(build a b)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/uninstall_project -B ${WORK}/${build}
    -G ${GENERATOR} -DBARMAP_SOURCE=${SOURCE} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
function(install build prefix)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${WORK}/${build} --prefix ${WORK}/${prefix} ${ARGN}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()
# uninstall(BUILD RESULT SENTENCE [OPTION...]): 0 or 1, and what it says
function(uninstall build wanted sentence)
  execute_process(COMMAND ${CMAKE_COMMAND} -DBUILD=${WORK}/${build} ${ARGN} -P ${SOURCE}/packaging/uninstall.cmake
    RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(NOT result EQUAL wanted OR NOT said MATCHES "${sentence}")
    message(SEND_ERROR "uninstall of ${build} ${ARGN}: ${result}: ${said}")
  endif()
endfunction()
# expect(PREFIX FILE...): these files are there, and no others
function(expect prefix)
  file(GLOB_RECURSE files RELATIVE ${WORK}/${prefix} ${WORK}/${prefix}/*)
  list(REMOVE_ITEM files share/barmap/installed.txt)
  if(NOT "${files}" STREQUAL "${ARGN}")
    message(SEND_ERROR "${prefix} has ${files}, not ${ARGN}")
  endif()
endfunction()
set(all bin/barmap lib/barmap-dropins/bin/gdrcopy_sanity lib/barmap-dropins/lib/libgdrapi.so.2)

# Several prefixes of one build directory.
install(a one)
install(a two)
uninstall(a 1 "several prefixes.*-DPREFIX=${WORK}/one.*-DPREFIX=${WORK}/two.*Nothing was removed")
expect(one bin/barmap)
expect(two bin/barmap)
uninstall(a 0 "removed barmap from ${WORK}/two" -DPREFIX=${WORK}/two)
expect(one bin/barmap)
expect(two)
uninstall(a 0 "removed barmap from ${WORK}/one")
expect(one)
uninstall(a 0 "nothing to uninstall")
uninstall(a 1 "not installed in ${WORK}/one" -DPREFIX=${WORK}/one)

# What another build directory has installed since.
install(a one)
install(b one)
uninstall(a 0 "nothing to uninstall")
uninstall(a 1 "from ${WORK}/b, not from ${WORK}/a.*Nothing was removed" -DPREFIX=${WORK}/one)
expect(one bin/barmap)
uninstall(b 0 "removed barmap from ${WORK}/one")
expect(one)

# The drop-in libraries alone, and with the program to which their links lead.
install(a alone --component dropins)
expect(alone lib/barmap-dropins/lib/libgdrapi.so.2)
install(a alone)
install(a alone --component dropins)
expect(alone ${all})
uninstall(a 0 "removed barmap from ${WORK}/alone")
expect(alone)
if(EXISTS ${WORK}/alone/lib)
  message(SEND_ERROR "a directory is left")
endif()
set(ENV{DESTDIR} ${WORK}/package)
install(a one)
install(a one --component dropins)
unset(ENV{DESTDIR})
expect(package${WORK}/one ${all})
file(REMOVE_RECURSE ${WORK})
