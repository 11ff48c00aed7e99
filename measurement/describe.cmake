# Has each build describe itself in the library mneme_measurement (cmake/build_description.cmake).
string(TOUPPER "${CMAKE_BUILD_TYPE}" BUILD_TYPE_UPPER)
string(JOIN " " DESCRIBED_FLAGS ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${BUILD_TYPE_UPPER}} ${MNEME_CODE_FLAGS})
set(DESCRIPTION ${CMAKE_BINARY_DIR}/build_description.cc)
add_custom_target(describe_build
  COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_SOURCE_DIR} -D TARGET=${DESCRIPTION} -D VERSION=${PROJECT_VERSION}
          -D "COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" -D "FLAGS=${DESCRIBED_FLAGS}"
          -D "TYPE=${CMAKE_BUILD_TYPE}" -P ${CMAKE_SOURCE_DIR}/cmake/build_description.cmake
  BYPRODUCTS ${DESCRIPTION} COMMENT "" VERBATIM)
target_sources(mneme_measurement PRIVATE ${DESCRIPTION})
add_dependencies(mneme_measurement describe_build)
