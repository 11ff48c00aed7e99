// For tests: a directory that goes away.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace mneme::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "mneme-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  // Its own, without those above.
  std::string name() const { return std::filesystem::path(path_).filename().string(); }

 private:
  std::string path_;
};

}  // namespace mneme::test
