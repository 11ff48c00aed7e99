// Goal: what is measured of the machine is of the cores that the process may run on.
// Method: measured as the test finds the machine, and once more on one core alone.
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "base/machine_costs.h"

namespace mneme {
namespace {

TEST(MachineCosts, AreThoseOfTheCoresThatMayBeUsed) {
  const MachineCosts costs = measure_machine_costs();
  EXPECT_EQ(costs.cores > 1, costs.handover_ns > 0);
  EXPECT_GT(costs.memory_bytes_per_ns, 0);
}

TEST(MachineCosts, OneCoreHandsNothingOver) {
  std::thread([] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
    const MachineCosts costs = measure_machine_costs();
    EXPECT_EQ(costs.cores, 1u);
    EXPECT_EQ(costs.handover_ns, 0);
    EXPECT_GT(costs.memory_bytes_per_ns, 0);
  }).join();
}

}  // namespace
}  // namespace mneme
