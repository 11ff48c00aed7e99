// Checks of file names on the command line: a result that can't be written is known before the work begins,
// not after it.
#pragma once

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <string>

#include "base/file/file.h"

namespace mneme {

// A file that may be written, or made; '-' is standard output. Nothing is made or changed yet.
inline CLI::Validator writable_file() {
  return CLI::Validator(
      [](std::string& name) -> std::string {
        if (name == "-") return "";
        const std::filesystem::path path(name);
        std::error_code ignored;
        if (std::filesystem::is_directory(path, ignored)) return name + " is a directory: name a file in it";
        if (std::filesystem::exists(path, ignored)) {
          return ::access(name.c_str(), W_OK) == 0 ? "" : file_error("write", name, errno).message;
        }
        const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
        if (!std::filesystem::is_directory(folder, ignored))
          return "there is no folder " + folder + " for " + name;
        return ::access(folder.c_str(), W_OK | X_OK) == 0
                   ? ""
                   : file_error("make a file in", folder, errno).message;
      },
      "FILE");
}

}  // namespace mneme
