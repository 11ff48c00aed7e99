# Builds the workloads' .sql files, workloads/NAME/NAME.sql, into the library mneme_workloads, and lists their names in MNEME_WORKLOADS.
# They are read when CMake configures, and a change of one of them configures anew.
file(GLOB WORKLOAD_FILES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/workloads/*/*.sql)
set(MNEME_WORKLOADS "")
set(WORKLOAD_ENTRIES "")
foreach(WORKLOAD_FILE ${WORKLOAD_FILES})
  get_filename_component(WORKLOAD ${WORKLOAD_FILE} NAME_WE)
  list(APPEND MNEME_WORKLOADS ${WORKLOAD})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${WORKLOAD_FILE})
  file(READ ${WORKLOAD_FILE} WORKLOAD_SQL)
  string(APPEND WORKLOAD_ENTRIES "    {\"${WORKLOAD}\", R\"__sql__(${WORKLOAD_SQL})__sql__\"},\n")
endforeach()
configure_file(${CMAKE_SOURCE_DIR}/workloads/shared/embedded_sql.cc.in ${CMAKE_BINARY_DIR}/embedded_sql.cc @ONLY)
target_sources(mneme_workloads PRIVATE ${CMAKE_BINARY_DIR}/embedded_sql.cc)
