// Consistency checks: a fresh population meets every condition; each planted violation is found by the
// conditions that speak of it, and by no other. TPC-C and Smallbank; the others are in files of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/shared/memory_rows.h"
#include "workloads/smallbank/smallbank.h"
#include "workloads/testing/test_checks.h"
#include "workloads/tpcc/tpcc.h"

namespace mneme {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

class TpccChecks : public testing::Test {
 protected:
  TpccChecks()
      : workload_(std::move(tpcc::Tpcc::make({.warehouses = 2, .items = 50, .customers = 20}, 1, "default"))
                      .value()),
        program_(compiled(*workload_)) {}

  MemoryRows population() const { return MemoryRows(program_->catalog, *workload_); }
  std::vector<std::string> violated_in(const MemoryRows& rows) const {
    return violated(workload_->check(rows, {}));
  }

  const std::unique_ptr<Workload> workload_;
  const std::unique_ptr<Program> program_;
};

TEST_F(TpccChecks, ThePopulationMeetsAllTwelve) {
  const std::vector<Check> checks = workload_->check(population(), {});
  ASSERT_EQ(checks.size(), 12u);
  for (size_t i = 0; i < checks.size(); ++i) {
    EXPECT_TRUE(checks[i].ok) << checks[i].name << ": " << checks[i].detail;
    EXPECT_EQ(checks[i].name.substr(0, checks[i].name.find(':')), "3.3.2." + std::to_string(i + 1));
  }
}

// A value of the table's first or last row, changed. In the population a district's last order is undelivered
// and its first one delivered.
TEST_F(TpccChecks, FindAChangedValue) {
  enum class Row { kFirst, kLast };
  enum class Change { kAddOne, kSetNull };
  struct Case {
    const char* table;
    const char* column;
    Row row;
    Change change;
    std::vector<std::string> conditions;
  };
  const Case cases[] = {
      {"warehouse", "w_ytd", Row::kFirst, Change::kAddOne, {"3.3.2.1", "3.3.2.8"}},
      {"district", "d_ytd", Row::kLast, Change::kAddOne, {"3.3.2.1", "3.3.2.9"}},
      {"district", "d_next_o_id", Row::kFirst, Change::kAddOne, {"3.3.2.2"}},
      {"orders", "o_ol_cnt", Row::kFirst, Change::kAddOne, {"3.3.2.4", "3.3.2.6"}},
      {"orders", "o_carrier_id", Row::kFirst, Change::kSetNull, {"3.3.2.5", "3.3.2.7"}},
      {"order_line", "ol_delivery_d", Row::kFirst, Change::kSetNull, {"3.3.2.7"}},
      {"order_line", "ol_amount", Row::kFirst, Change::kAddOne, {"3.3.2.10", "3.3.2.12"}},
      {"order_line",
       "ol_amount",
       Row::kLast,
       Change::kAddOne,
       {}},  // not delivered: no condition counts it yet
      {"history", "h_amount", Row::kLast, Change::kAddOne, {"3.3.2.8", "3.3.2.9", "3.3.2.10"}},
      {"customer", "c_balance", Row::kFirst, Change::kAddOne, {"3.3.2.10", "3.3.2.12"}},
      {"customer", "c_ytd_payment", Row::kLast, Change::kAddOne, {"3.3.2.12"}},
      {"customer", "c_delivery_cnt", Row::kFirst, Change::kAddOne, {"3.3.2.11"}},
      {"stock", "s_ytd", Row::kFirst, Change::kAddOne, {}},
  };
  for (const Case& c : cases) {
    MemoryRows rows = population();
    std::vector<std::vector<Value>>& table = rows.rows(c.table);
    Value& value = (c.row == Row::kFirst ? table.front() : table.back())[rows.column(c.table, c.column)];
    value = c.change == Change::kSetNull ? Value::null() : Value::of_numeric(value.as_int() + 1);
    EXPECT_THAT(violated_in(rows), UnorderedElementsAreArray(c.conditions)) << c.table << "." << c.column;
  }
}

TEST_F(TpccChecks, FindAMissingRow) {
  struct Case {
    const char* table;
    size_t from_end;  // which row: 1 is the last
    std::vector<std::string> conditions;
  };
  const Case cases[] = {
      {"new_order", 1, {"3.3.2.2", "3.3.2.5", "3.3.2.11"}},  // the newest of its district
      {"new_order", 2, {"3.3.2.3", "3.3.2.5", "3.3.2.11"}},  // one in the middle
      {"orders", 1, {"3.3.2.2", "3.3.2.4", "3.3.2.5", "3.3.2.6", "3.3.2.11"}},
      {"order_line", 1, {"3.3.2.4", "3.3.2.6"}},
      {"history", 1, {"3.3.2.8", "3.3.2.9", "3.3.2.10"}},
  };
  for (const Case& c : cases) {
    MemoryRows rows = population();
    std::vector<std::vector<Value>>& table = rows.rows(c.table);
    table.erase(table.end() - static_cast<std::ptrdiff_t>(c.from_end));
    EXPECT_THAT(violated_in(rows), UnorderedElementsAreArray(c.conditions)) << c.table;
  }
}

class SmallbankChecks : public testing::Test {
 protected:
  SmallbankChecks()
      : workload_(std::move(smallbank::Smallbank::make(50, {.percent = 90, .customers = 10}, 1, "default"))
                      .value()),
        program_(compiled(*workload_)),
        rows_(program_->catalog, *workload_) {}

  Value& balance(const char* table, size_t customer) { return rows_.rows(table)[customer - 1][1]; }

  const std::unique_ptr<Workload> workload_;
  const std::unique_ptr<Program> program_;
  MemoryRows rows_;
};

TEST_F(SmallbankChecks, ThePopulationMeetsAll) {
  EXPECT_EQ(workload_->check(rows_, {}).size(), 3u);
  EXPECT_EQ(workload_->check(rows_, 0).size(), 4u);
  EXPECT_THAT(violated(workload_->check(rows_, 0)), IsEmpty());
}

TEST_F(SmallbankChecks, MoneyMustBeWhatTheCallsAddedUpTo) {
  Value& checking = balance("checking", 7);
  checking = Value::of_numeric(checking.as_numeric() - 501);
  EXPECT_THAT(violated(workload_->check(rows_, 0)), UnorderedElementsAreArray({"money"}));
  EXPECT_THAT(violated(workload_->check(rows_, -500)), UnorderedElementsAreArray({"money"}));
  EXPECT_THAT(violated(workload_->check(rows_, -501)), IsEmpty());
}

TEST_F(SmallbankChecks, FindNegativeSavingsAndMissingRows) {
  balance("checking", 3) = Value::of_numeric(-1);  // an overdraft, and allowed
  EXPECT_THAT(violated(workload_->check(rows_, {})), IsEmpty());
  balance("savings", 3) = Value::of_numeric(-1);
  EXPECT_THAT(violated(workload_->check(rows_, {})), UnorderedElementsAreArray({"savings"}));
  balance("savings", 3) = Value::of_numeric(0);
  rows_.rows("checking").pop_back();
  EXPECT_THAT(violated(workload_->check(rows_, {})), UnorderedElementsAreArray({"accounts"}));
  rows_.rows("savings").back()[0] = Value::of_int(51);
  EXPECT_THAT(violated(workload_->check(rows_, {})), UnorderedElementsAreArray({"accounts", "customers"}));
}

TEST_F(SmallbankChecks, TheDeltaOfACallIsWhatItAddsToAllMoney) {
  using smallbank::Procedure;
  const auto delta = [&](Procedure procedure, int64_t amount, std::optional<int64_t> result) {
    Call call;
    call.procedure = smallbank::id_of(procedure);
    call.arguments = {Argument::of(Value::of_text("customer00000001")),
                      Argument::of(Value::of_numeric(amount))};
    std::vector<Argument> results;
    if (result.has_value()) results.push_back(Argument::of(Value::of_numeric(*result)));
    return static_cast<int64_t>(workload_->conserved_delta(call, results));
  };
  EXPECT_EQ(delta(Procedure::kDepositChecking, 500, {}), 500);
  EXPECT_EQ(delta(Procedure::kTransactSavings, -500, {}), -500);
  EXPECT_EQ(delta(Procedure::kWriteCheck, 500, 600), -600);
  EXPECT_EQ(delta(Procedure::kWriteCheck, 500, 500), -500);
  EXPECT_EQ(delta(Procedure::kBalance, 0, 77), 0);
  EXPECT_EQ(delta(Procedure::kAmalgamate, 0, {}), 0);
  EXPECT_EQ(delta(Procedure::kSendPayment, 500, {}), 0);
}

}  // namespace
}  // namespace mneme
