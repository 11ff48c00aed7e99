// The message for a command line that cannot be parsed: it names the word that is not understood, and the one
// that was probably meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mneme {

// A sentence or two, without the final line break. The parser's own text where nothing better is known.
std::string parse_error_text(const CLI::App& program, const CLI::Error& error);

}  // namespace mneme
