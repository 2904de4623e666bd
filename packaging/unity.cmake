# SPDX-License-Identifier: MIT
# For builds with CMAKE_UNITY_BUILD: the files of a target that define the same names, each in its unnamed
# namespace.
if(TARGET unit_tests)
  file(GLOB alone ${PROJECT_SOURCE_DIR}/core/tests/unit/signal/*_model_test.cpp)
  set_source_files_properties(${alone} TARGET_DIRECTORY unit_tests
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
