# SPDX-License-Identifier: MIT
# Part of `cmake --install`: installs the symbolic link `link` into `directory`, unless it would lead nowhere there.
cmake_path(ABSOLUTE_PATH directory BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
file(READ_SYMLINK ${link} target)
cmake_path(ABSOLUTE_PATH target BASE_DIRECTORY ${directory} NORMALIZE)
# refuse_overwriting.cmake lists what would be installed beside what is there.
if(EXISTS $ENV{DESTDIR}${target} OR (BARMAP_LISTING AND EXISTS ${target}))
  file(INSTALL ${link} DESTINATION ${directory})
else()
  cmake_path(GET link FILENAME name)
  message(STATUS "Left out: ${directory}/${name}, since there is no ${target}")
endif()
