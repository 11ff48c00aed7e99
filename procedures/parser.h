// Parser: SQL text to a syntax tree. Throws SourceError at the first thing that is not in the accepted subset.
#pragma once

#include <string_view>

#include "procedures/syntax.h"

namespace mneme {

syntax::File parse(std::string_view source);

// One statement of an SQL session, with or without its semicolon.
syntax::Command parse_command(std::string_view source);

}  // namespace mneme
