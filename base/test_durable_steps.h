// For tests: in which order this process makes, syncs and renames files and directories. No test can see whether a sync was called by what
// it finds afterwards.
//
// How         the C library's calls are defined here anew, write down what they are asked, and ask the kernel. So one source file of a
//             test program includes this.
// Threads     one, while steps are recorded.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace mneme::test::steps {

inline std::vector<std::string>* recorded = nullptr;

inline std::string name_of(int descriptor) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t bytes = ::readlink(link.c_str(), path.data(), path.size());
  return std::filesystem::path(std::string(path.data(), bytes < 0 ? 0 : static_cast<size_t>(bytes))).filename();
}
inline void record(const char* what, const std::string& name) {
  if (recorded != nullptr) recorded->push_back(std::string(what) + " " + std::filesystem::path(name).filename().string());
}

}  // namespace mneme::test::steps

namespace mneme::test {

// While it lives: "make NAME" (a directory), "sync NAME" and "rename NAME", which is the new one; of paths the last part.
class DurableSteps {
 public:
  DurableSteps() { steps::recorded = &steps_; }
  ~DurableSteps() { steps::recorded = nullptr; }
  DurableSteps(const DurableSteps&) = delete;
  DurableSteps& operator=(const DurableSteps&) = delete;

  const std::vector<std::string>& get() const { return steps_; }

 private:
  std::vector<std::string> steps_;
};

}  // namespace mneme::test

extern "C" {

int fdatasync(int descriptor) {
  mneme::test::steps::record("sync", mneme::test::steps::name_of(descriptor));
  return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

int fsync(int descriptor) {
  mneme::test::steps::record("sync", mneme::test::steps::name_of(descriptor));
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

int rename(const char* from, const char* to) noexcept {
  mneme::test::steps::record("rename", to);
  return static_cast<int>(::syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}

int mkdir(const char* path, mode_t mode) noexcept {
  mneme::test::steps::record("make", path);
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

}  // extern "C"
