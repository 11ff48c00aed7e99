# Builds the pages that commands write into the library mneme_cli. They are read when CMake configures, and a change of one of
# them configures anew.
foreach(PAGE slice replay bench)
  set(PAGE_FILE ${CMAKE_SOURCE_DIR}/cli/output/pages/${PAGE}.html)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PAGE_FILE})
  string(TOUPPER ${PAGE} PAGE_UPPER)
  file(READ ${PAGE_FILE} ${PAGE_UPPER}_PAGE)
endforeach()
configure_file(${CMAKE_SOURCE_DIR}/cli/output/pages/pages.cc.in ${CMAKE_BINARY_DIR}/pages.cc @ONLY)
target_sources(mneme_cli PRIVATE ${CMAKE_BINARY_DIR}/pages.cc)
