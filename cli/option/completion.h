// Completion scripts for bash and zsh, and the manual page, of the commands and their options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mneme {

// A script to source: commands, the options of each, values that an option lists, files and directories.
std::string bash_completion(const CLI::App& program);
// The same as a function of zsh's, in a directory of its fpath as _mneme.
std::string zsh_completion(const CLI::App& program);
// The page mneme(1), for man.
std::string manual_page(const CLI::App& program);

}  // namespace mneme
