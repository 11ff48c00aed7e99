# Builds the laboratory's page, as `mneme lab` serves it, into the library mneme_cli, with the packages that scripts/setup fetches by npm.
# Without them the program is built all the same, and says that it has no page.
set(LABORATORY_PAGE ${CMAKE_SOURCE_DIR}/lab/page)
set(LABORATORY_SOURCE ${CMAKE_BINARY_DIR}/laboratory_page.cc)
find_program(NODE node)
if(NODE AND EXISTS ${LABORATORY_PAGE}/node_modules/.package-lock.json)
  file(GLOB LABORATORY_PARTS CONFIGURE_DEPENDS ${LABORATORY_PAGE}/*.mjs ${LABORATORY_PAGE}/page.* ${LABORATORY_PAGE}/presets/*.sql)
  add_custom_command(
    OUTPUT ${LABORATORY_SOURCE}
    COMMAND ${NODE} ${LABORATORY_PAGE}/build.mjs --served ${LABORATORY_SOURCE}
    DEPENDS ${LABORATORY_PARTS} ${LABORATORY_PAGE}/package-lock.json ${CMAKE_SOURCE_DIR}/experiments/page/design.css ${CMAKE_SOURCE_DIR}/experiments/page/graph.mjs
      ${CMAKE_SOURCE_DIR}/tests/data/bank.sql ${CMAKE_SOURCE_DIR}/examples/shop/shop.sql ${CMAKE_SOURCE_DIR}/workloads/tpcc/tpcc.sql
    COMMENT "Making the laboratory's page")
else()
  message(WARNING "the program will be built without `mneme lab`: its page is made by node with packages that scripts/setup fetches")
  file(CONFIGURE OUTPUT ${LABORATORY_SOURCE}
    CONTENT "#include \"cli/lab/laboratory_page.h\"\nnamespace mneme { const std::string_view kLaboratoryPage; }\n")
endif()
target_sources(mneme_cli PRIVATE ${LABORATORY_SOURCE})
