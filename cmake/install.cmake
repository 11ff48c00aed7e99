# `cmake --install` leaves the program with the workloads' machine code, the library with its headers, and the files that
# find_package(Mneme) reads. CPack makes a Debian package of them.
set(MNEME_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Mneme)
set(MNEME_LIBRARY_FOLDERS base network logging engine procedures analyzer recovery embedding)

install(TARGETS mneme RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_BINARY_DIR}/native DESTINATION lib/mneme FILES_MATCHING PATTERN "*.so")

# Completion for shells, and the manual page, as the program makes them.
set(SHELL_FILES ${CMAKE_BINARY_DIR}/shell)
install(CODE "
  file(MAKE_DIRECTORY ${SHELL_FILES})
  execute_process(COMMAND ${CMAKE_BINARY_DIR}/mneme completion bash OUTPUT_FILE ${SHELL_FILES}/mneme COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_BINARY_DIR}/mneme completion zsh OUTPUT_FILE ${SHELL_FILES}/_mneme COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_BINARY_DIR}/mneme manual OUTPUT_FILE ${SHELL_FILES}/mneme.1 COMMAND_ERROR_IS_FATAL ANY)
")
install(FILES ${SHELL_FILES}/mneme DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${SHELL_FILES}/_mneme DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${SHELL_FILES}/mneme.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# Mneme::base, Mneme::engine and so on; what a program links is Mneme::Mneme (MnemeConfig.cmake).
foreach(FOLDER ${MNEME_LIBRARY_FOLDERS} logging_remote logging_replicated grammar)
  set_target_properties(mneme_${FOLDER} PROPERTIES EXPORT_NAME ${FOLDER})
  install(TARGETS mneme_${FOLDER} EXPORT MnemeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
foreach(FOLDER ${MNEME_LIBRARY_FOLDERS})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${FOLDER} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mneme
    FILES_MATCHING PATTERN "*.h" PATTERN testing EXCLUDE)
endforeach()
install(EXPORT MnemeTargets NAMESPACE Mneme:: DESTINATION ${MNEME_PACKAGE_DIR})

include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/MnemeConfig.cmake.in ${CMAKE_BINARY_DIR}/MnemeConfig.cmake
  INSTALL_DESTINATION ${MNEME_PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/MnemeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/MnemeConfig.cmake ${CMAKE_BINARY_DIR}/MnemeConfigVersion.cmake
  DESTINATION ${MNEME_PACKAGE_DIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mneme)
set(CPACK_PACKAGE_CONTACT "The Mneme developers <mneme@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "main-memory OLTP engine with a command log and parallel recovery")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# To compile procedures and to build programs against the library.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, pkg-config, libtbb-dev, liburing-dev, libisal-dev, libxxhash-dev, libnuma-dev, libssl-dev, \
libnats-dev, librdkafka-dev, libre2-dev, libfmt-dev, nlohmann-json3-dev, libantlr4-runtime-dev")
include(CPack)
