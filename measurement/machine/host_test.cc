// Goal: a host is described by what the system says, and a field that the system doesn't describe is empty.
//
// Method: a made-up root folder with files of /proc, /sys and /etc, whole, strange and missing.
#include "measurement/machine/host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "measurement/machine/stalls.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

class HostTest : public testing::Test {
 protected:
  ~HostTest() override { fs::remove_all(root_); }

  void put(const fs::path& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  const fs::path root_ = fs::path(testing::TempDir()) / fmt_name();

 private:
  static std::string fmt_name() { return "host_test_" + std::to_string(::getpid()); }
};

TEST_F(HostTest, IsWhatTheSystemSays) {
  put("proc/cpuinfo",
      "processor\t: 0\nmodel name\t: Example 9000 @ 3.00GHz\nflags\t\t: fpu hypervisor sse\n");
  put("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  put("sys/class/dmi/id/sys_vendor", "QEMU\n");
  put("sys/class/dmi/id/product_name", "Standard PC\n");
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  put("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
  put("sys/devices/system/cpu/cpufreq/scaling_governor", "of no processor\n");
  put("sys/devices/system/node/node0/x", "");
  put("sys/devices/system/node/node1/x", "");
  const Host host = examine_host(root_);
  EXPECT_EQ(host.processor, "Example 9000 @ 3.00GHz");
  EXPECT_EQ(host.system, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(host.huge_pages, "madvise");
  EXPECT_EQ(host.virtualisation, "QEMU Standard PC");
  EXPECT_EQ(host.governor, "performance,powersave");
  EXPECT_EQ(host.numa_nodes, 2u);
  EXPECT_GT(host.cores, 0u);
  EXPECT_GT(host.memory_bytes, 1u << 20);
}

TEST_F(HostTest, IsEmptyWhereTheSystemSaysNothing) {
  put("proc/cpuinfo", "");
  const Host host = examine_host(root_);
  EXPECT_EQ(host.processor, std::nullopt);
  EXPECT_EQ(host.system, std::nullopt);
  EXPECT_EQ(host.huge_pages, std::nullopt);
  EXPECT_EQ(host.virtualisation, std::nullopt);
  EXPECT_EQ(host.governor, std::nullopt);
  const nlohmann::ordered_json json = json_of(host);
  for (const char* field : {"processor", "system", "huge_pages", "virtualisation", "governor"})
    EXPECT_TRUE(json.at(field).is_null()) << field;
  EXPECT_EQ(disk_of("/tmp", root_), std::nullopt);
  EXPECT_TRUE(json_of(disk_of("/tmp", root_)).is_null());
}

TEST_F(HostTest, IsBareMetalWithoutTheFlag) {
  put("proc/cpuinfo", "flags\t\t: fpu nohypervisors sse\n");
  put("sys/class/dmi/id/sys_vendor", "Example Computers\n");
  EXPECT_EQ(examine_host(root_).virtualisation, "none");
}

TEST_F(HostTest, ADiskIsTheLongestMountPointAbove) {
  put("proc/self/mountinfo",
      "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
      "23 22 0:5 / /nowhere rw - tmpfs tmpfs rw\n"
      "24 22 8:2 / /nowhere/data rw shared:2 master:1 - xfs /dev/sdb1 rw\n"
      "25 22 8:3 / /nowhere/da rw - btrfs /dev/sdc1 rw\n"
      "26 22 8:4 / /nowhere/my\\040disk rw - ext3 /dev/mapper/my\\040disk rw\n");
  const auto device = [&](const char* path) { return disk_of(path, root_)->device; };
  EXPECT_EQ(device("/nowhere/data/base"), "/dev/sdb1");
  EXPECT_EQ(device("/nowhere/database"), "tmpfs");
  EXPECT_EQ(device("/nowhere/da"), "/dev/sdc1");
  EXPECT_EQ(device("/elsewhere"), "/dev/sda1");
  EXPECT_EQ(device("/nowhere/my disk/base"), "/dev/mapper/my disk");
  EXPECT_EQ(disk_of("/nowhere/data", root_)->file_system, "xfs");
}

TEST_F(HostTest, AMountHidesTheOneBelow) {
  put("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 8:2 / / rw - ext4 /dev/sda2 rw\n");
  EXPECT_EQ(disk_of("/tmp", root_)->device, "/dev/sda2");
}

TEST_F(HostTest, ProcessorTimesAreTheMachines) {
  EXPECT_FALSE(processor_times(root_).has_value());
  put("proc/stat", "cpu  100 200 300 4000 5000 600 700 800 90 9\ncpu0 1 2 3 4\n");
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto times = processor_times(root_);
  ASSERT_TRUE(times.has_value());
  EXPECT_DOUBLE_EQ(times->busy, 1900 / ticks);
  EXPECT_DOUBLE_EQ(times->steal, 800 / ticks);
}

TEST(StallWatch, CountsLateWakeUps) {
  StallWatch watch;
  watch.woke(1'000'000'000, 1'000'100'000);
  watch.woke(1'000'000'000, 999'000'000);
  watch.woke(1'000'000'000, 1'020'000'001);
  watch.woke(1'000'000'000, 1'300'000'000);
  const Stalls stalls = watch.finish();
  EXPECT_EQ(stalls.late_wakeups, 2u);
  EXPECT_DOUBLE_EQ(stalls.longest_delay_ms, 300);
}

TEST(UtcText, IsIso8601) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_text(1769860800), "2026-01-31T12:00:00Z");
}

}  // namespace
}  // namespace mneme
