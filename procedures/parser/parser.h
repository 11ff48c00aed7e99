// Parser: SQL text to a syntax tree. Throws SourceError at the first thing that is not in the accepted
// subset.
#pragma once

#include <string_view>

#include "procedures/parser/syntax.h"

namespace mneme {

// `lines_before`: of the file that `source` is a part of.
syntax::File parse(std::string_view source, size_t lines_before = 0);

// The same, but blanks alone are a catalog without definitions: that of a database whose schema is still to
// be created.
inline syntax::File parse_catalog(std::string_view source) {
  return source.find_first_not_of(" \t\r\n") == source.npos ? syntax::File() : parse(source);
}

// An expression by itself, as a column's DEFAULT.
syntax::Expr parse_expression(std::string_view source);

// One statement of an SQL session, with or without its semicolon.
syntax::Command parse_command(std::string_view source);

}  // namespace mneme
