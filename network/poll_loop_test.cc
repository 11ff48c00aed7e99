// Goal: a loop that the system has no room for is refused with its reason. Method: a process that may open no more files. What
// the loops do is log_server_test.cc's business.
#include "network/poll_loop.h"

#include <gtest/gtest.h>

#include "base/test_open_files.h"
#include "base/test_refusal.h"

namespace mneme {
namespace {

TEST(PollLoop, TellsThatNoMoreFilesMayBeOpen) {
  const test::NoOpenFiles none;
  test::expect_refused(PollLoop::open(), ErrorKind::kFailed, "cannot make an eventfd: Too many open files");
}

}  // namespace
}  // namespace mneme
