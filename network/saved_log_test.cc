// Goal: what a log server has promised, or saved, survives a power failure.
// Method: the order of the steps that make it durable. What the files hold is log_server_test.cc's business, and the fuzz targets'.
#include "network/saved_log.h"

#include <gtest/gtest.h>

#include "base/test_directory.h"
#include "base/test_durable_steps.h"

namespace mneme {
namespace {

TEST(SavedLogTest, APromisedTermIsSyncedBeforeItHasItsNameAndTheNameBehindIt) {
  const test::TemporaryDirectory directory;
  const test::DurableSteps steps;
  ASSERT_TRUE(keep_term(directory.path(), 0x12, {3, 4}).ok());
  EXPECT_EQ(steps.get(), (std::vector<std::string>{"sync 0000000000000012.term.tmp", "rename 0000000000000012.term", "sync " + directory.name()}));
}

}  // namespace
}  // namespace mneme
