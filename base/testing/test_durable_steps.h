// For tests: in which order this process makes, syncs and renames files and directories, and syncs that fail.
// No test can see whether a sync was called by what it finds afterwards.
//
// How         the C library's calls are defined here anew, write down what they are asked, and ask the
//             kernel. So one source file of a test program includes this.
// Threads     one, while steps are recorded. The syncs that fail are those of the thread that asked for it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
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
  return std::filesystem::path(std::string(path.data(), bytes < 0 ? 0 : static_cast<size_t>(bytes)))
      .filename();
}
inline void record(const char* what, const std::string& name) {
  if (recorded != nullptr)
    recorded->push_back(std::string(what) + " " + std::filesystem::path(name).filename().string());
}

inline thread_local const std::string* failing = nullptr;

inline int synced(int descriptor, long call) {
  const std::string name = name_of(descriptor);
  record("sync", name);
  if (failing != nullptr && name == *failing) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(call, descriptor));
}

}  // namespace mneme::test::steps

namespace mneme::test {

// While it lives: "make NAME" (a directory), "sync NAME" and "rename NAME", which is the new one; of paths
// the last part.
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

// While it lives, this thread's syncs of files and directories of that name (a path's last part) fail.
class FailingSyncs {
 public:
  explicit FailingSyncs(std::string name) : name_(std::move(name)) { steps::failing = &name_; }
  ~FailingSyncs() { steps::failing = nullptr; }
  FailingSyncs(const FailingSyncs&) = delete;
  FailingSyncs& operator=(const FailingSyncs&) = delete;

 private:
  const std::string name_;
};

}  // namespace mneme::test

extern "C" {

int fdatasync(int descriptor) {
  return mneme::test::steps::synced(descriptor, SYS_fdatasync);
}

int fsync(int descriptor) {
  return mneme::test::steps::synced(descriptor, SYS_fsync);
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
