# Builds the pages that commands write into the library mneme_cli. They are read when CMake configures, and a change of one of
# them configures anew.
# @DESIGN@ stands for the design that they share with the report of experiments, @GRAPH@ for what draws graphs.
set(DESIGN_FILE ${CMAKE_SOURCE_DIR}/experiments/page/design.css)
set(GRAPH_FILE ${CMAKE_SOURCE_DIR}/experiments/page/graph.mjs)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${DESIGN_FILE} ${GRAPH_FILE})
file(READ ${DESIGN_FILE} PAGE_DESIGN)
file(READ ${GRAPH_FILE} PAGE_GRAPH)
string(REPLACE "export function" "function" PAGE_GRAPH "${PAGE_GRAPH}")
foreach(PAGE slice replay bench)
  set(PAGE_FILE ${CMAKE_SOURCE_DIR}/cli/output/pages/${PAGE}.html)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PAGE_FILE})
  string(TOUPPER ${PAGE} PAGE_UPPER)
  file(READ ${PAGE_FILE} PAGE_TEXT)
  string(REPLACE "@DESIGN@" "${PAGE_DESIGN}" PAGE_TEXT "${PAGE_TEXT}")
  string(REPLACE "@GRAPH@" "${PAGE_GRAPH}" ${PAGE_UPPER}_PAGE "${PAGE_TEXT}")
endforeach()
configure_file(${CMAKE_SOURCE_DIR}/cli/output/pages/pages.cc.in ${CMAKE_BINARY_DIR}/pages.cc @ONLY)
target_sources(mneme_cli PRIVATE ${CMAKE_BINARY_DIR}/pages.cc)
