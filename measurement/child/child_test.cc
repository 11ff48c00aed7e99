// Goal: a child that does not do what it was started for is told, with what it said. Method: the program that
// is started again is this one, which knows none of the commands: it tells its own help, ends with an error,
// or runs no tests at all.
#include "measurement/child/child.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/testing/test_directory.h"
#include "base/testing/test_open_files.h"
#include "base/testing/test_refusal.h"

namespace mneme {
namespace {

using test::expect_refused;

class Child : public testing::Test {
 protected:
  // Otherwise a child that takes its arguments for none would run these tests again.
  Child() { setenv("GTEST_FILTER", "nothing", 1); }
  ~Child() override { unsetenv("GTEST_FILTER"); }
};

TEST_F(Child, ThatTellsNoJsonIsRefused) {
  expect_refused(measure_command({"--help"}), ErrorKind::kFailed, "mneme --help printed no JSON object: ");
}

TEST_F(Child, ThatFailsIsRefusedWithItsEnd) {
  expect_refused(measure_command({"--gtest_flagfile=/nowhere/flags"}), ErrorKind::kFailed,
                 "mneme --gtest_flagfile=/nowhere/flags was ended by signal 6:\n");
}

TEST_F(Child, ThatListensNowhereIsRefused) {
  const test::TemporaryDirectory directory;
  expect_refused(LogServerChild::start(directory.path()), ErrorKind::kFailed, "a log server did not start: ");
}

TEST_F(Child, ForWhichThereAreNoPipesIsRefused) {
  const test::NoOpenFiles none;
  expect_refused(measure_command({"--help"}), ErrorKind::kFailed,
                 "cannot make a pipe for a child process: Too many open files");
}

}  // namespace
}  // namespace mneme
