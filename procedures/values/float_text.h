// Double precision and real to and from text, as PostgreSQL 15 does it: the shortest digits that read back as
// the same number.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace mneme {

void print_double(double value, fmt::memory_buffer& out);
void print_real(float value, fmt::memory_buffer& out);

enum class DoubleSyntax { kOk, kInvalid, kOutOfRange };
// `text` without blanks around it. What strtod() reads is a number, NaN, Infinity and hexadecimal digits
// included.
DoubleSyntax parse_double(std::string_view text, double& value);
DoubleSyntax parse_real(std::string_view text, float& value);

}  // namespace mneme
