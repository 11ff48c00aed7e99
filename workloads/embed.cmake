# Builds the workloads' .sql files into the library mneme_workloads. They are read when CMake configures, and a change
# of one of them configures anew.
foreach(WORKLOAD tpcc smallbank tatp tpcb ycsb)
  set(WORKLOAD_SQL ${CMAKE_SOURCE_DIR}/workloads/${WORKLOAD}/${WORKLOAD}.sql)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${WORKLOAD_SQL})
  string(TOUPPER ${WORKLOAD} WORKLOAD_UPPER)
  file(READ ${WORKLOAD_SQL} ${WORKLOAD_UPPER}_SQL)
endforeach()
configure_file(${CMAKE_SOURCE_DIR}/workloads/shared/embedded_sql.cc.in ${CMAKE_BINARY_DIR}/embedded_sql.cc @ONLY)
target_sources(mneme_workloads PRIVATE ${CMAKE_BINARY_DIR}/embedded_sql.cc)
