// Goal: users at terminals key in, wait and think as TPC-C has it (5.2.5), each at his own warehouse and
// district.
//
// Method: simulated time. Answers at once give the specification's limit of 12.86 New-Orders a minute and
// warehouse.
#include "cli/measure/terminals.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "workloads/tpcc/tpcc.h"

namespace mneme {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

std::unique_ptr<Workload> warehouses(int64_t count) {
  return *tpcc::Tpcc::make({.warehouses = count, .items = 1000, .customers = 30}, /*seed=*/1, "default");
}

TEST(Terminals, UsersWhoAreAnsweredAtOnceReachTheMostThatThereIs) {
  const std::unique_ptr<Workload> workload = warehouses(2);
  const TerminalRules& rules = *workload->terminal_rules();
  Terminals terminals(*workload, rules, 20, 0, 1, 0, 7, kSecond);
  constexpr uint64_t kHours = 3;
  uint64_t orders = 0;
  std::map<uint32_t, std::set<int64_t>> homes, stock_districts;
  uint64_t last = 0;
  while (terminals.next_ns() < kSecond + kHours * 3600 * kSecond) {
    const uint64_t now = terminals.next_ns();
    EXPECT_GE(now, last);
    last = now;
    const auto [terminal, call] = terminals.take();
    homes[terminal].insert(call->arguments[0].scalar.as_int());
    if (call->procedure == tpcc::id_of(tpcc::Procedure::kStockLevel))
      stock_districts[terminal].insert(call->arguments[1].scalar.as_int());
    orders += call->procedure == rules.counted ? 1 : 0;
    terminals.answered(terminal, now);
  }
  EXPECT_NEAR(static_cast<double>(orders) / (kHours * 60 * 2), rules.most_per_minute, 0.4);
  ASSERT_EQ(homes.size(), 20u);
  std::map<std::pair<int64_t, int64_t>, int> places;
  for (const auto& [terminal, home] : homes) {
    EXPECT_EQ(home.size(), 1u) << terminal;
    ASSERT_EQ(stock_districts[terminal].size(), 1u) << terminal;
    ++places[{*home.begin(), *stock_districts[terminal].begin()}];
  }
  EXPECT_EQ(places.size(), 20u);  // each district of each warehouse
}

TEST(Terminals, AUserWaitsForHisAnswer) {
  const std::unique_ptr<Workload> workload = warehouses(1);
  const TerminalRules& rules = *workload->terminal_rules();
  // The second of three workers has the terminals 1, 4 and 7.
  Terminals terminals(*workload, rules, 10, 1, 3, 0, 7, 0);
  std::vector<Terminals::Due> waiting;
  while (terminals.next_ns() != Terminals::kNever) waiting.push_back(terminals.take());
  EXPECT_EQ(waiting.size(), 3u);
  const uint64_t now = 1000 * kSecond;
  for (const Terminals::Due& each : waiting) {
    const TerminalRules::Times& times = rules.times[each.call->procedure.value];
    terminals.answered(each.terminal, now);
    const uint64_t due = terminals.next_ns();
    EXPECT_GE(due, now + 2 * kSecond);  // the shortest keying time
    EXPECT_LE(due,
              now + static_cast<uint64_t>((18 + TerminalRules::kLongestThink * times.think_seconds) * 1e9));
    EXPECT_EQ(terminals.take().terminal, each.terminal);
    EXPECT_EQ(terminals.next_ns(), Terminals::kNever);
  }
}

}  // namespace
}  // namespace mneme
