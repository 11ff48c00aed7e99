// Goal: the cores that serve a device's interrupts are found, and a thread keeps off them where others are
// left. Method: the kernel's files, made up in a folder of the test's; the real cores of this process.
#include "base/interrupted_cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

namespace mneme {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class InterruptedCoresTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("interrupted_cores_test." + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "sys/dev/block");
    device("8:0", "pci0/0000:00:02.0/virtio1/block/vda");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void device(const std::string& number, const fs::path& path) {
    fs::create_directories(root_ / "sys/devices" / path);
    fs::create_directory_symlink(root_ / "sys/devices" / path, root_ / "sys/dev/block" / number);
  }

  fs::path root_;
};

TEST_F(InterruptedCoresTest, AreThoseOfTheDevicesMessages) {
  write("sys/devices/pci0/0000:00:02.0/msi_irqs/35", "msix\n");
  write("sys/devices/pci0/0000:00:02.0/msi_irqs/36", "msix\n");
  write("proc/interrupts",
        "           CPU0       CPU2       CPU3\n"
        " 35:          0          1          0 PCI-MSIX  0-edge  virtio1-config\n"
        " 36:         10       5000         90 PCI-MSIX  1-edge  virtio1-req.0\n"
        " 37:      90000          0          0 PCI-MSIX  1-edge  virtio2-input\n"
        "NMI:          0          0          0 Non-maskable interrupts\n"
        "ERR:          0\n");
  EXPECT_THAT(interrupted_cores(8, 0, root_), ElementsAre(2));
}

TEST_F(InterruptedCoresTest, AreFoundByNameWhereThereAreNoMessages) {
  write("proc/interrupts",
        "           CPU0       CPU1\n"
        "  5:       4000          0  IO-APIC   5-edge      virtio1\n"
        "  6:          0       9000  IO-APIC   6-edge      virtio2\n");
  EXPECT_THAT(interrupted_cores(8, 0, root_), ElementsAre(0));
}

TEST_F(InterruptedCoresTest, OfManyQueuesAreAllOrNone) {
  std::string head = "    ";
  std::string line = " 36: ";
  for (int core = 0; core < 4; ++core) {
    head += " CPU" + std::to_string(core);
    line += " 1000";
  }
  write("sys/devices/pci0/0000:00:02.0/msi_irqs/36", "msix\n");
  write("proc/interrupts", head + "\n" + line + " PCI-MSIX 1-edge nvme0q1\n");
  EXPECT_THAT(interrupted_cores(8, 0, root_), ElementsAre(0, 1, 2, 3));
}

TEST_F(InterruptedCoresTest, OfAVolumeAreThoseOfItsDisks) {
  device("253:0", "virtual/block/dm-0");
  fs::create_directories(root_ / "sys/devices/virtual/block/dm-0/slaves");
  fs::create_directory_symlink(root_ / "sys/devices/pci0/0000:00:02.0/virtio1/block/vda",
                               root_ / "sys/devices/virtual/block/dm-0/slaves/vda");
  write("proc/interrupts", " CPU0 CPU1\n 5: 0 700 IO-APIC 5-edge virtio1\n");
  EXPECT_THAT(interrupted_cores(253, 0, root_), ElementsAre(1));
}

TEST_F(InterruptedCoresTest, AreNoneWhereTheSystemDoesNotSay) {
  EXPECT_THAT(interrupted_cores(9, 9, root_), IsEmpty());
  EXPECT_THAT(interrupted_cores(8, 0, root_), IsEmpty()) << "no /proc/interrupts";
  write("proc/interrupts", " CPU0 CPU1\n 5: 0 0 IO-APIC 5-edge virtio1\n");
  EXPECT_THAT(interrupted_cores(8, 0, root_), IsEmpty()) << "none so far";
  interrupted_cores(fs::temp_directory_path() / "not" / "yet" / "there");
}

TEST(KeepOff, LeavesAThreadTheOtherCoresIfTheyAreEnough) {
  std::thread([] {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    std::vector<uint32_t> mine;
    for (uint32_t core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &before)) mine.push_back(core);
    }
    EXPECT_FALSE(keep_off({}, 1));
    EXPECT_FALSE(keep_off(mine, 1)) << "none would be left";
    EXPECT_FALSE(keep_off({mine.front()}, static_cast<uint32_t>(mine.size()))) << "not enough for all";
    if (mine.size() > 1) {
      EXPECT_TRUE(keep_off({mine.front()}, 1));
      cpu_set_t after;
      ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
      EXPECT_EQ(CPU_COUNT(&after), CPU_COUNT(&before) - 1);
      EXPECT_FALSE(CPU_ISSET(mine.front(), &after));
    }
  }).join();
}

}  // namespace
}  // namespace mneme
