# SPDX-License-Identifier: MIT
# For builds with CMAKE_UNITY_BUILD, which take half the time: what several files of one target give
# the same name to, each in its unnamed namespace or as a macro.
file(GLOB alone ${PROJECT_SOURCE_DIR}/src/transfer/cpu/*.cpp)
set_source_files_properties(${alone} TARGET_DIRECTORY barmap_objects
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(TARGET barmap_python)
  foreach(file gdrapi own_memory pygpu_control pygpu_memory vkgdr)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/python/binding/${file}.cpp
      TARGET_DIRECTORY barmap_python PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endif()
if(TARGET unit_tests)
  file(GLOB alone ${PROJECT_SOURCE_DIR}/tests/unit/signal/*_model_test.cpp)
  set_source_files_properties(${alone} TARGET_DIRECTORY unit_tests
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
# A table of each vendor's runtime.
if(TARGET runtime_tables)
  set_target_properties(runtime_tables PROPERTIES UNITY_BUILD OFF)
endif()
if(TARGET barmap_python_runtime)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/python/runtime/hip.cpp
    TARGET_DIRECTORY barmap_python_runtime PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
# It defines what one file of the library does, which then brings others along.
if(CMAKE_UNITY_BUILD AND TARGET c_api_boundary_test)
  target_link_options(c_api_boundary_test PRIVATE LINKER:--allow-multiple-definition)
endif()
