// What is said of a command line that cannot be parsed: which words are not understood, and which were probably meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mneme {

// A sentence or two, without the final line break. The parser's own text where nothing better is known.
std::string parse_error_text(const CLI::App& program, const CLI::Error& error);

}  // namespace mneme
