# The SQL and PL/pgSQL grammar: ANTLR4 generates the lexer and the parser into the build folder.
# Debian's generator 4.7.2 emits u8 literals that C++20 types as char8_t, hence -fno-char8_t on these files alone.
find_program(ANTLR4 antlr4 REQUIRED)
set(GRAMMAR_DIR ${CMAKE_BINARY_DIR}/grammar)
set(GRAMMAR_SOURCES ${GRAMMAR_DIR}/MnemeLexer.cpp ${GRAMMAR_DIR}/MnemeParser.cpp)
set(GRAMMAR_INPUTS ${CMAKE_SOURCE_DIR}/procedures/parser/MnemeLexer.g4 ${CMAKE_SOURCE_DIR}/procedures/parser/MnemeParser.g4)
if(EXISTS ${CMAKE_SOURCE_DIR}/procedures/parser/MnemeParser.g4)
  add_custom_command(
    OUTPUT ${GRAMMAR_SOURCES} ${GRAMMAR_DIR}/MnemeLexer.h ${GRAMMAR_DIR}/MnemeParser.h
    COMMAND ${ANTLR4} -Dlanguage=Cpp -no-listener -no-visitor -package mneme_grammar -o ${GRAMMAR_DIR} -Xexact-output-dir ${GRAMMAR_INPUTS}
    DEPENDS ${GRAMMAR_INPUTS}
    COMMENT "Generating the SQL parser")
  add_library(mneme_grammar STATIC ${GRAMMAR_SOURCES})
  target_compile_options(mneme_grammar PRIVATE -fno-char8_t -w)
  target_include_directories(mneme_grammar SYSTEM PUBLIC $<BUILD_INTERFACE:${GRAMMAR_DIR}> $<BUILD_INTERFACE:/usr/include/antlr4-runtime>)
  target_link_libraries(mneme_grammar PUBLIC antlr4-runtime)
else()
  add_library(mneme_grammar INTERFACE)
endif()
