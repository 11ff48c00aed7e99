// Goal: a child that the system has no room for is refused with its reason. Method: a process that may open
// no more files, and an argument longer than any may be.
#include "cli/crash/child_process.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "base/testing/test_open_files.h"
#include "base/testing/test_refusal.h"

namespace mneme {
namespace {

TEST(ChildProcess, TellsThatNoMoreFilesMayBeOpen) {
  const test::NoOpenFiles none;
  test::expect_refused(ChildProcess::start({"--help"}, 1), ErrorKind::kFailed,
                       "cannot make a socket pair for the child process: Too many open files");
}

TEST(ChildProcess, KeepsNoDescriptorsOfAChildThatWasNotStarted) {
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto before = open_files();
  {
    const test::NoOpenFiles none(/*besides=*/2);
    test::expect_refused(ChildProcess::start({"--help"}, 2), ErrorKind::kFailed,
                         "cannot make a socket pair for the child process: ");
  }
  EXPECT_EQ(open_files(), before);
}

TEST(ChildProcess, TellsThatItCannotBeStarted) {
  const auto started = ChildProcess::start({std::string(1 << 20, 'x')}, 0);
  test::expect_refused(started, ErrorKind::kFailed, "cannot start /");
  test::expect_refused(started, ErrorKind::kFailed, ": Argument list too long");
}

}  // namespace
}  // namespace mneme
