// A command line as text, which can be pasted into a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mneme {

// The words as a shell takes them: those with characters that mean something to it are in single quotes.
std::string command_line_text(const std::vector<std::string>& words);
// What command_line_text() was made of.
std::vector<std::string> command_line_words(std::string_view text);
// This process's.
std::vector<std::string> command_line();

}  // namespace mneme
