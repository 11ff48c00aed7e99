// Goal: the rules that judge TPC-C's isolation tests accept what two transactions leave one after the other,
// whichever the server let go first, and name each anomaly; what is asked of the server is TPC-C's.
//
// Method: each rule with what a server that locks, one that refuses and one that does not isolate would show.
#include <gtest/gtest.h>

#include "cli/acid/acid_report.h"
#include "cli/acid/isolation_rules.h"
#include "cli/acid/tpcc_statements.h"

namespace mneme {
namespace {

const Course kWaited{};
const Course kDidNotWait{.second_was_first = true};
const Course kRefused{.second_was_first = true, .first_refused = "40001"};
const Course kRolledBack{.rolls_back = true};

TEST(IsolationRules, AnOrderStatusSeesAnOrderOnceItIsCommitted) {
  const StatusSeen saw_new{"old", "new", "new", "new"};
  const StatusSeen saw_old{"old", "new", "old", "new"};
  EXPECT_TRUE(judge_status(kWaited, saw_new).ok);
  EXPECT_TRUE(judge_status(kWaited, saw_old).ok);
  EXPECT_TRUE(judge_status(kDidNotWait, saw_old).ok);
  // A dirty read: T1 had not been committed when T2 answered.
  EXPECT_FALSE(judge_status(kDidNotWait, saw_new).ok);
  EXPECT_FALSE(judge_status(kRefused, saw_new).ok);
  EXPECT_FALSE(judge_status(kWaited, {"old", "new", "other", "new"}).ok);
  // A committed order that is gone.
  EXPECT_FALSE(judge_status(kWaited, {"old", "new", "new", "old"}).ok);
}

TEST(IsolationRules, AnOrderStatusNeverSeesWhatIsRolledBack) {
  EXPECT_TRUE(judge_status(kRolledBack, {"old", "new", "old", "old"}).ok);
  EXPECT_FALSE(judge_status(kRolledBack, {"old", "new", "new", "old"}).ok);
  EXPECT_FALSE(judge_status(kRolledBack, {"old", "new", "old", "new"}).ok);
}

TEST(IsolationRules, TwoOrdersHaveNumbersBehindEachOther) {
  EXPECT_TRUE(judge_orders(kWaited, {10, 10, 11, 12, ""}).ok);
  EXPECT_TRUE(judge_orders(kRefused, {10, 11, 10, 12, ""}).ok);
  EXPECT_TRUE(judge_orders(kRolledBack, {10, 10, 10, 11, ""}).ok);
  // A lost update: both took one number.
  EXPECT_FALSE(judge_orders(kWaited, {10, 10, 10, 11, ""}).ok);
  // A number that a rolled back order had taken, and a gap.
  EXPECT_FALSE(judge_orders(kRolledBack, {10, 10, 11, 12, ""}).ok);
  EXPECT_FALSE(judge_orders(kWaited, {10, 10, 12, 13, ""}).ok);
  // T2 had its answer before T1 ended, and can't come behind it.
  EXPECT_FALSE(judge_orders(kDidNotWait, {10, 10, 11, 12, ""}).ok);
  EXPECT_FALSE(judge_orders(kWaited, {10, 10, 11, 12, "a row is missing"}).ok);
}

TEST(IsolationRules, ABalanceHasBothOrOneOfThem) {
  EXPECT_TRUE(judge_balance(kWaited, {1000, 500, 30, 1470, 1470}).ok);
  EXPECT_TRUE(judge_balance(kDidNotWait, {1000, 500, 30, 970, 1470}).ok);
  EXPECT_TRUE(judge_balance(kRolledBack, {1000, 500, 30, 970, 970}).ok);
  // The Payment is lost; the Delivery is; a delivery that was rolled back stays.
  EXPECT_FALSE(judge_balance(kWaited, {1000, 500, 30, 970, 1500}).ok);
  EXPECT_FALSE(judge_balance(kWaited, {1000, 500, 30, 970, 970}).ok);
  EXPECT_FALSE(judge_balance(kRolledBack, {1000, 500, 30, 1470, 1470}).ok);
  EXPECT_FALSE(judge_balance(kDidNotWait, {1000, 500, 30, 1470, 1470}).ok);
}

TEST(IsolationRules, PricesAreReadAsTheyWereOrAgain) {
  const PricesSeen repeatable{{100, 200}, {100, 200, 100}, {110, 220}, {110, 220}, "", {}};
  EXPECT_TRUE(judge_prices(repeatable).ok);
  PricesSeen refused = repeatable;
  refused.read = {100, 220, 0};
  refused.refused = "40001";
  refused.again = {110, 220, 110};
  EXPECT_TRUE(judge_prices(refused).ok);
  PricesSeen fuzzy = repeatable;
  fuzzy.read = {100, 220, 110};
  EXPECT_FALSE(judge_prices(fuzzy).ok);
  PricesSeen stale = refused;
  stale.again = {100, 200, 100};
  EXPECT_FALSE(judge_prices(stale).ok);
  PricesSeen lost = repeatable;
  lost.after = lost.before;
  EXPECT_FALSE(judge_prices(lost).ok);
  PricesSeen idle = repeatable;
  idle.changed = idle.after = idle.before;
  EXPECT_FALSE(judge_prices(idle).ok);
}

TEST(IsolationRules, WhatComesBetweenTwoReadsIsNotSeen) {
  EXPECT_TRUE(judge_phantom({"", "", "", "17", "17"}).ok);
  EXPECT_TRUE(judge_phantom({"16", "16", "", "17", "17"}).ok);
  EXPECT_TRUE(judge_phantom({"16", "17", "40001", "17", "17"}).ok);
  EXPECT_FALSE(judge_phantom({"", "17", "", "17", "17"}).ok);
  EXPECT_FALSE(judge_phantom({"16", "17", "", "17", "17"}).ok);
  // T2's order is lost.
  EXPECT_FALSE(judge_phantom({"16", "16", "", "16", "17"}).ok);
  EXPECT_FALSE(judge_phantom({"16", "", "40001", "16", "17"}).ok);
}

TEST(TpccStatements, AnswersAreRead) {
  EXPECT_EQ(delivered_orders({"{3,NULL,12}"}), (std::vector<int64_t>{3, 0, 12}));
  EXPECT_EQ(delivered_orders({"{}"}), std::vector<int64_t>{});
  EXPECT_EQ(delivered_orders({}), std::vector<int64_t>{});
  EXPECT_EQ(hundredths_of("-12.30"), -1230);
  EXPECT_EQ(hundredths_of("0.05"), 5);
  EXPECT_EQ(sql_quoted("O'Neill"), "'O''Neill'");
  const CustomerKey key{2, 3, 4};
  const std::vector<OrderLine> lines = {{7, 1}, {9, 2}};
  EXPECT_TRUE(call_new_order(key, lines)
                  .starts_with("CALL new_order(2, 3, 4, '2026-06-01 12:00:00', '{7,9}', '{2,2}', "
                               "'{1,2}', NULL, "));
  TextRow order(kNewOrderResults);
  order[kNewOrderNumber] = "3001";
  order[kNewOrderAmounts] = "{1.50,4.00}";
  TextRow status(kStatusResults);
  status[5] = "3001";
  status[9] = "{7,9}";
  status[10] = "{1,2}";
  status[11] = "{1.50,4.00}";
  EXPECT_EQ(entered_text(lines, order), status_text(status));
  status[10] = "{2,1}";
  EXPECT_NE(entered_text(lines, order), status_text(status));
}

TEST(AcidReport, AClauseThatWasNotRunIsNoSuccess) {
  AcidReport report;
  report.add("3.4.2.1", "one", {true, "seen"});
  report.add_not_run("3.5.3.1", "two", "no server to kill");
  EXPECT_EQ(report.first_failure(), nullptr);
  EXPECT_EQ(report.count(AcidOutcome::kPassed), 1u);
  EXPECT_NE(report.text().find("1 passed, 0 failed, 1 not run"), std::string::npos);
  EXPECT_EQ(report.json()["clauses"][1]["outcome"], "not run");
  EXPECT_EQ(report.json()["ok"], true);
  report.add("3.4.2.2", "three", {false, "seen"});
  EXPECT_EQ(report.first_failure()->clause, "3.4.2.2");
  EXPECT_EQ(report.json()["ok"], false);
}

}  // namespace
}  // namespace mneme
