// Build: which program this is: its version, its commit, and how it was compiled.
//
// The commit is read from git at each build (cmake/build_description.cmake), not when CMake configures.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace mneme {

struct Build {
  std::string_view version = {};
  std::string_view commit =
      {};  // 40 digits, then "-modified" if tracked files differ; empty: built outside git
  std::string_view compiler = {};  // "GNU 12.2.0"
  std::string_view flags = {};
  std::string_view type = {};  // "Release"
};

const Build& this_build();
// "mneme 0.9.0 (commit ...)" or "mneme 0.9.0 (built outside git)".
std::string version_text(const Build& build);

// {"compiler","flags","type","program"}; `program` is program_digest().
nlohmann::ordered_json json_of(const Build& build);
// The commit, or null if the program was built outside git.
nlohmann::ordered_json commit_json(const Build& build);
// A digest of the executable's bytes, which tells builds of one commit from each other. Computed once.
const std::string& program_digest();

}  // namespace mneme
