// Goal: a child that the system has no room for is refused with its reason. Method: a process that may open no more files, and an
// argument longer than any may be.
#include "cli/child_process.h"

#include <gtest/gtest.h>

#include "base/test_open_files.h"
#include "base/test_refusal.h"

namespace mneme {
namespace {

TEST(ChildProcess, TellsThatNoMoreFilesMayBeOpen) {
  const test::NoOpenFiles none;
  test::expect_refused(ChildProcess::start({"--help"}, 1), ErrorKind::kFailed,
                       "cannot make a socket pair for the child process: Too many open files");
}

TEST(ChildProcess, TellsThatItCannotBeStarted) {
  const auto started = ChildProcess::start({std::string(1 << 20, 'x')}, 0);
  test::expect_refused(started, ErrorKind::kFailed, "cannot start /");
  test::expect_refused(started, ErrorKind::kFailed, ": Argument list too long");
}

}  // namespace
}  // namespace mneme
