# Builds the workloads' .sql files into the library mneme_workloads. They are read when CMake configures, and a change
# of one of them configures anew.
set(WORKLOAD_SQL ${CMAKE_SOURCE_DIR}/workloads/tpcc.sql ${CMAKE_SOURCE_DIR}/workloads/smallbank.sql)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${WORKLOAD_SQL})
file(READ ${CMAKE_SOURCE_DIR}/workloads/tpcc.sql TPCC_SQL)
file(READ ${CMAKE_SOURCE_DIR}/workloads/smallbank.sql SMALLBANK_SQL)
configure_file(${CMAKE_SOURCE_DIR}/workloads/embedded_sql.cc.in ${CMAKE_BINARY_DIR}/embedded_sql.cc @ONLY)
target_sources(mneme_workloads PRIVATE ${CMAKE_BINARY_DIR}/embedded_sql.cc)
