# To compile procedures while it runs, the program needs its own compiler and flags and a digest of the headers, which are
# compiled into mneme_procedures, and must export the symbols that machine code calls.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} --version OUTPUT_VARIABLE MNEME_COMPILER_VERSION)
string(REGEX REPLACE "\n.*" "" MNEME_COMPILER_VERSION "${MNEME_COMPILER_VERSION}")
string(TOUPPER "${CMAKE_BUILD_TYPE}" MNEME_BUILD_TYPE)
string(JOIN " " MNEME_NATIVE_FLAGS -std=c++20 ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${MNEME_BUILD_TYPE}} ${MNEME_CODE_FLAGS}
  -w -fPIC -shared -fno-plt)
# Clang reads no more than 256 parentheses in one another unless it is told to, and long chains of procedures have more.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  string(APPEND MNEME_NATIVE_FLAGS " -fbracket-depth=4096")
endif()

file(GLOB_RECURSE MNEME_NATIVE_HEADERS CONFIGURE_DEPENDS base/*.h logging/*.h engine/*.h procedures/*.h)
add_executable(header_digest EXCLUDE_FROM_ALL tools/header_digest.cc procedures/native/native_headers.cc)
target_link_libraries(header_digest PRIVATE mneme_base)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/native_header_digest.inc
  COMMAND header_digest ${CMAKE_SOURCE_DIR} > ${CMAKE_BINARY_DIR}/native_header_digest.inc
  DEPENDS header_digest ${MNEME_NATIVE_HEADERS}
  COMMENT "Taking the digest of the headers that procedures are compiled against")
configure_file(procedures/native/native_build.cc.in ${CMAKE_BINARY_DIR}/native_build.cc @ONLY)
target_sources(mneme_procedures PRIVATE ${CMAKE_BINARY_DIR}/native_build.cc
  ${CMAKE_BINARY_DIR}/native_header_digest.inc)
target_include_directories(mneme_procedures PRIVATE ${CMAKE_BINARY_DIR})
target_link_libraries(mneme_procedures PUBLIC ${CMAKE_DL_LIBS})

# mneme_loads_native_code(TARGET): the executable keeps and exports all that machine code may call, whether it calls it
# itself or not.
function(mneme_loads_native_code target)
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  target_link_options(${target} PRIVATE LINKER:--whole-archive $<TARGET_FILE:mneme_base> $<TARGET_FILE:mneme_engine>
    $<TARGET_FILE:mneme_procedures> LINKER:--no-whole-archive)
endfunction()

# mneme_workload_objects(WORKLOAD...): the workloads' machine code, in the folder beside the program. Not under a
# sanitizer, where compiling takes long and most tests interpret.
function(mneme_workload_objects)
  if(MNEME_SANITIZE)
    return()
  endif()
  set(folder ${CMAKE_BINARY_DIR}/native)
  add_custom_command(
    OUTPUT ${folder}/stamp
    COMMAND mneme native ${ARGN} --into ${folder} --precompile
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/stamp
    DEPENDS mneme
    COMMENT "Compiling the workloads' procedures")
  add_custom_target(native_objects ALL DEPENDS ${folder}/stamp)
endfunction()
