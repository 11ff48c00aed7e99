// Goal: what is available is what the machine has, or less where a control group limits it.
// Method: the kernel's files, made up in a folder of the test's; and the real ones, roughly.
#include "base/memory/available_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace mneme {
namespace {

namespace fs = std::filesystem;

class AvailableMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("available_memory_test." + std::to_string(getpid()));
    write("proc/meminfo", "MemTotal:       16000 kB\nMemFree:          200 kB\nMemAvailable:     1000 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  fs::path root_;
};

TEST_F(AvailableMemoryTest, IsWhatTheMachineHas) {
  EXPECT_EQ(available_memory_bytes(root_), 1000u * 1024);
}

TEST_F(AvailableMemoryTest, IsUnknownWhereTheSystemDoesNotSay) {
  EXPECT_EQ(available_memory_bytes(root_ / "elsewhere"), std::nullopt);
}

TEST_F(AvailableMemoryTest, IsWhatTheTightestGroupLeaves) {
  write("proc/self/cgroup", "0::/service/inner\n");
  write("sys/fs/cgroup/service/inner/memory.max", "max\n");
  write("sys/fs/cgroup/service/inner/memory.current", "100000\n");
  EXPECT_EQ(available_memory_bytes(root_), 1000u * 1024)
      << "a group without a limit, under one without files";
  write("sys/fs/cgroup/service/memory.max", "500000\n");
  write("sys/fs/cgroup/service/memory.current", "300000\n");
  EXPECT_EQ(available_memory_bytes(root_), 200000u);
  write("sys/fs/cgroup/service/memory.stat", "anon 250000\ninactive_file 50000\n");
  EXPECT_EQ(available_memory_bytes(root_), 250000u) << "file pages can be dropped";
  write("sys/fs/cgroup/service/memory.current", "900000\n");
  EXPECT_EQ(available_memory_bytes(root_), 0u) << "more than the limit, which was lowered";
}

TEST_F(AvailableMemoryTest, KnowsTheFirstVersionOfGroups) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/box\n");
  write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "400000\n");
  write("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "150000\n");
  EXPECT_EQ(available_memory_bytes(root_), 250000u);
}

TEST(AvailableMemory, IsPartOfThisMachines) {
  const auto bytes = available_memory_bytes();
  ASSERT_TRUE(bytes.has_value());
  EXPECT_LE(*bytes,
            static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace
}  // namespace mneme
