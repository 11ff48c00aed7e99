# mneme_folder(NAME LINKS ...): the folder's .cc files become the library mneme_NAME, its *_test.cc files the
# program NAME_test, its *_stress_test.cc files the program NAME_stress_test (label stress, target stress_tests:
# what ThreadSanitizer is there for).
add_custom_target(stress_tests COMMENT "All stress tests")
# Seconds: under a sanitizer a test takes many times as long.
set(MNEME_TEST_TIMEOUT 300)
if(MNEME_SANITIZE)
  set(MNEME_TEST_TIMEOUT 900)
endif()
set(MNEME_TEST_ENVIRONMENT "")
if(MNEME_SANITIZE MATCHES "thread")
  # A test's child process takes an engine's place, with threads of its own.
  set(MNEME_TEST_ENVIRONMENT ENVIRONMENT "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp:die_after_fork=0")
endif()
# UBSan checks our code, also where a test runs it; of the tests' own code its checks would only double the time to compile.
function(mneme_test_code target)
  if(MNEME_SANITIZE MATCHES "undefined")
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
  endif()
endfunction()

# Compiles a dozen files at a time, which takes a third of the time. So names of files' own differ from file to file. Not for code that must be
# fast: the more there is in one piece, the less of it the compiler inlines. Under a sanitizer none must be.
option(MNEME_UNITY "Compile tests and commands several files at a time" ON)
function(mneme_compiled_together target)
  if(MNEME_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()

function(mneme_folder name)
  cmake_parse_arguments(FOLDER "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cc)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*_test.cc)
  file(GLOB stress CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*_stress_test.cc)
  list(REMOVE_ITEM sources ${tests} ${CMAKE_SOURCE_DIR}/cli/main.cc)
  if(stress)
    list(REMOVE_ITEM tests ${stress})
  endif()

  if(sources)
    add_library(mneme_${name} STATIC ${sources})
    target_include_directories(mneme_${name} PUBLIC
      $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mneme>)
    target_link_libraries(mneme_${name} PUBLIC ${FOLDER_LINKS})
    if(MNEME_SANITIZE)
      mneme_compiled_together(mneme_${name})
    endif()
  else()
    add_library(mneme_${name} INTERFACE)
    target_include_directories(mneme_${name} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(mneme_${name} INTERFACE ${FOLDER_LINKS})
  endif()

  if(tests)
    add_executable(${name}_test ${tests})
    mneme_test_code(${name}_test)
    mneme_compiled_together(${name}_test)
    target_link_libraries(${name}_test PRIVATE mneme_${name} GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE MNEME_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
      PROPERTIES ${MNEME_TEST_ENVIRONMENT})
  endif()
  if(stress)
    add_executable(${name}_stress_test ${stress})
    mneme_test_code(${name}_stress_test)
    mneme_compiled_together(${name}_stress_test)
    add_dependencies(stress_tests ${name}_stress_test)
    target_link_libraries(${name}_stress_test PRIVATE mneme_${name} GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_stress_test PRIVATE MNEME_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    gtest_discover_tests(${name}_stress_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS stress ${MNEME_TEST_ENVIRONMENT})
  endif()
endfunction()
