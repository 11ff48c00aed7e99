// Goal: a checkpoint that is complete survives a power failure, name and all.
// Method: the order of the steps that make it durable.
#include "engine/checkpoint/checkpoint_file.h"

#include <gtest/gtest.h>

#include "base/testing/test_directory.h"
#include "base/testing/test_durable_steps.h"

namespace mneme {
namespace {

TEST(CheckpointFile, ItsChunksItsHeaderAndItsNameAreDurableInThisOrder) {
  const test::TemporaryDirectory directory;
  auto file = CheckpointFile::create(directory.path(), CheckpointIdentity{});
  ASSERT_TRUE(file.ok());
  const test::DurableSteps steps;
  const auto written = (*file)->complete();
  ASSERT_TRUE(written.ok());
  const std::string synced = "sync " + written->file;
  EXPECT_EQ(steps.get(), (std::vector<std::string>{synced, synced, "sync " + directory.name()}));
}

}  // namespace
}  // namespace mneme
