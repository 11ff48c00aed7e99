// Goal: a run is held against its specification: the mix within chance, response times, and what is counted a
// minute.
#include "cli/measure/by_the_book.h"

#include <gtest/gtest.h>

#include "workloads/tpcc/tpcc.h"

namespace mneme {
namespace {

class ByTheBook : public testing::Test {
 protected:
  ByTheBook()
      : workload_(*tpcc::Tpcc::make({}, 1, "default")), program_(*compile(workload_->sql(), "tpcc.sql")) {
    const uint64_t calls[] = {4500, 4300, 400, 400, 400};
    for (const uint64_t count : calls) {
      ProcedureReport part;
      part.committed = count;
      part.latency_ns.record(1'000'000);
      parts_.push_back(part);
    }
  }
  BookReport report(uint32_t terminals = 10) const {
    return by_the_book(*workload_, *program_, parts_, /*seconds=*/600, /*scale=*/50, terminals);
  }

  const std::unique_ptr<Workload> workload_;
  const std::unique_ptr<Program> program_;
  std::vector<ProcedureReport> parts_;
};

TEST_F(ByTheBook, CountsNewOrdersAMinute) {
  EXPECT_EQ(report().measure, "tpmC");
  EXPECT_DOUBLE_EQ(*report().per_minute, 450);
  EXPECT_NEAR(*report().share_of_most, 450 / 643.0, 1e-9);
  EXPECT_NEAR(*report(5).share_of_most, 900 / 643.0, 1e-9);
  EXPECT_EQ(report(5).measure, "new_order a minute");
  EXPECT_FALSE(report(/*terminals=*/0).share_of_most.has_value());
  EXPECT_TRUE(report().holds());
  EXPECT_EQ(report().json()["audit"]["payment"]["share_percent"], 43.0);
}

TEST_F(ByTheBook, AShareThatChanceDoesNotExplainIsNotMet) {
  parts_[1].committed = 4200;  // 42.4% of 9,900: 43% less twice 0.5%
  EXPECT_TRUE(report().holds());
  parts_[1].committed = 4000;
  EXPECT_FALSE(report().holds());
  EXPECT_NE(report().text(true).find("payment: 41.24% of the calls, 43% at least: NOT MET"),
            std::string::npos)
      << report().text(true);
  parts_[1].user_aborts = 300;  // what was rolled back was asked for, too
  EXPECT_TRUE(report().holds());
}

TEST_F(ByTheBook, TheSpecificationsSharesCountAndNotTheMixThatWasAskedFor) {
  const std::unique_ptr<Workload> orders_alone = *tpcc::Tpcc::make({}, 1, "new_order=100");
  for (size_t i = 1; i < parts_.size(); ++i) parts_[i] = {};
  EXPECT_FALSE(by_the_book(*orders_alone, *program_, parts_, 600, 50, 10).holds());
}

TEST_F(ByTheBook, SlowResponsesAreNotMet) {
  for (int i = 0; i < 10; ++i) parts_[4].latency_ns.record(19'000'000'000);
  EXPECT_TRUE(report().holds());
  for (int i = 0; i < 10; ++i) parts_[0].latency_ns.record(6'000'000'000);
  EXPECT_FALSE(report().holds());
  EXPECT_FALSE(report().parts[0].is_response_met);
  EXPECT_EQ(report().json()["audit_met"], false);
}

TEST_F(ByTheBook, ARunWithoutCallsAndAWorkloadWithoutAMeasure) {
  for (ProcedureReport& part : parts_) part = {};
  EXPECT_EQ(*report().per_minute, 0);
  EXPECT_TRUE(report().holds());
}

}  // namespace
}  // namespace mneme
