# SPDX-License-Identifier: MIT
# Guards every installation of this project, and makes the target `uninstall`.
#
# A prefix has a record of what barmap installed there, share/barmap/installed.txt: the build directory that did it
# last, and then files, and directories that were made for them, which end in a slash; relative to the prefix if they
# lie in it. A build directory lists its prefixes in installed_prefixes.txt.
install(CODE "set(BARMAP_BUILD \"${PROJECT_BINARY_DIR}\")
include(\"${CMAKE_CURRENT_LIST_DIR}/refuse_overwriting.cmake\")" ALL_COMPONENTS)
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR}
  -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake VERBATIM)
