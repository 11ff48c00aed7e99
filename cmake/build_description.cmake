# Writes what the program says of its own build (measurement/machine/build.h): a script that each build runs, since the commit changes
# without CMake being configured anew. The file is written only if it changes, so that nothing is compiled for nothing.
#
# cmake -D SOURCE=... -D TARGET=FILE -D VERSION=... -D COMPILER=... -D FLAGS=... -D TYPE=... -P build_description.cmake
#
# A source tree that is no git repository of its own has no commit: one that was unpacked inside another repository would otherwise have
# that one's.
set(COMMIT "")
execute_process(COMMAND ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0 git -C ${SOURCE} rev-parse --show-prefix
                OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(status EQUAL 0 AND prefix STREQUAL "")
  # --exclude: no tag's name takes the place of the commit's.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0 git -C ${SOURCE} describe --always --exclude=* --abbrev=40 --dirty=-modified
                  OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(COMMIT "")
  endif()
endif()
configure_file(${SOURCE}/measurement/machine/build_description.cc.in ${TARGET} @ONLY)
