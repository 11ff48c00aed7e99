// Parser: SQL text to a syntax tree. Throws SourceError at the first thing that is not in the accepted
// subset.
#pragma once

#include <functional>
#include <string>
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

// Where names without a schema lead, in a session whose search path is not the usual one. Each function
// returns the schema of the object that the name means: public as well for what there is none of.
struct NamePath {
  std::function<std::string(const std::string&)> relation;
  std::function<std::string(const std::string&)> routine;
  std::function<std::string(const std::string&)> type;
  std::string creates_in;
};

// The same statement, in which each name of an object in another schema than public stands behind that: what
// it means depends on no path.
std::string with_schemas(std::string_view source, const NamePath& path);

}  // namespace mneme
