// TATP's calls have the proportions that the benchmark gives them, and depend on stream and position alone;
// its conditions hold for the population, and each planted violation is found by the conditions that speak of
// it, and by no other.
#include "workloads/tatp/tatp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "procedures/interpreter/call_text.h"
#include "workloads/shared/memory_rows.h"
#include "workloads/testing/test_checks.h"

namespace mneme {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

constexpr int kTatpCalls = 100'000;

std::unique_ptr<Workload> tatp_of(int64_t subscribers, std::string_view mix = "default") {
  return std::move(tatp::Tatp::make(subscribers, 1, mix)).value();
}

TEST(TatpGenerator, ACallDependsOnItsStreamAndPositionAlone) {
  const std::unique_ptr<Workload> workload = tatp_of(100'000);
  const std::unique_ptr<Program> program = compiled(*workload);
  const StreamId stream{.worker = 1, .worker_count = 2};
  const auto forward = workload->generator(stream);
  std::vector<std::string> calls;
  for (uint64_t position = 0; position < 500; ++position) {
    calls.push_back(print_call(*program, forward->call(position)));
  }
  const auto backward = workload->generator(stream);
  const auto other_worker = workload->generator({.worker = 0, .worker_count = 2});
  const auto other_life = workload->generator({.worker = 1, .worker_count = 2, .incarnation = 1});
  int same = 0;
  for (uint64_t position = 500; position-- > 0;) {
    EXPECT_EQ(print_call(*program, backward->call(position)), calls[position]);
    same += print_call(*program, other_worker->call(position)) == calls[position];
    same += print_call(*program, other_life->call(position)) == calls[position];
  }
  EXPECT_LT(same, 5);
}

TEST(TatpGenerator, CallsAreMixedAsDescribed) {
  const auto generator = tatp_of(100'000)->generator({});
  std::array<int, 7> called{};
  for (uint64_t position = 0; position < kTatpCalls; ++position) {
    ++called[generator->call(position).procedure.value];
  }
  const std::array<double, 7> shares = {0.35, 0.10, 0.35, 0.02, 0.14, 0.02, 0.02};
  for (size_t i = 0; i < shares.size(); ++i)
    EXPECT_NEAR(called[i], kTatpCalls * shares[i], kTatpCalls * 0.005) << i;
}

TEST(TatpGenerator, ArgumentsAreWithinTheirBoundsAndReachThem) {
  const auto generator = tatp_of(100'000, "insert_call_forwarding=100")->generator({});
  std::map<int64_t, int> types, starts, ends;
  for (uint64_t position = 0; position < kTatpCalls; ++position) {
    const Call& call = generator->call(position);
    ASSERT_EQ(call.arguments.size(), 6u);
    const int64_t subscriber = std::stoll(std::string(call.arguments[0].scalar.as_text()));
    EXPECT_TRUE(subscriber >= 1 && subscriber <= 100'000);
    ++types[call.arguments[1].scalar.as_int()];
    ++starts[call.arguments[2].scalar.as_int()];
    ++ends[call.arguments[3].scalar.as_int()];
    EXPECT_EQ(call.arguments[4].scalar.as_text().size(), 15u);
  }
  EXPECT_EQ(types.size(), 4u);
  EXPECT_EQ(types.begin()->first, 1);
  ASSERT_EQ(starts.size(), 3u);
  for (const int64_t start : {0, 8, 16}) EXPECT_NEAR(starts[start], kTatpCalls / 3.0, kTatpCalls * 0.01);
  EXPECT_EQ(ends.size(), 24u);
  EXPECT_EQ(ends.begin()->first, 1);
}

// Returns which share of get_new_destination's calls find a rule, in percent, over all arguments and all sets
// of rules that a facility may have. `rules_at` returns the chance that a facility has exactly the start
// times of a set, `ends_after` the chance that a rule of this start ends after an hour.
double forwarded_percent(const std::function<double(uint32_t starts)>& rules_at,
                         const std::function<double(int64_t start, int64_t hour)>& ends_after) {
  double forwarded = 0;
  for (uint32_t starts = 0; starts < 8; ++starts) {
    for (int64_t asked = 0; asked <= 16; asked += 8) {
      for (int64_t hour = 1; hour <= 24; ++hour) {
        double none = 1;
        for (int64_t start = 0; start <= asked; start += 8) {
          if ((starts >> (start / 8) & 1) != 0) none *= 1 - ends_after(start, hour);
        }
        forwarded += rules_at(starts) * (1 - none) / (3 * 24);
      }
    }
  }
  return 100 * forwarded * 0.625 * 0.85;  // the facility is there, and active
}

TEST(Tatp, ForwardsAsOftenAsItsRulesSay) {
  // The population: none to three rules, as likely each, and of each number all sets as likely. They last one
  // to eight hours.
  const double populated = forwarded_percent(
      [](uint32_t starts) {
        return std::array{1.0, 1.0 / 3, 1.0 / 3, 1.0}[std::popcount(starts)] / 4;
      },
      [](int64_t start, int64_t hour) {
        return static_cast<double>(std::clamp<int64_t>(start + 8 - hour, 0, 8)) / 8;
      });
  EXPECT_NEAR(populated, 14.79, 0.005);
  const BookRules book = tatp_of(100'000)->book_rules();
  const auto audited =
      std::ranges::find(book.successes, "get_new_destination", &BookRules::Success::procedure);
  ASSERT_NE(audited, book.successes.end());
  EXPECT_NEAR(populated, audited->percent, 0.005);
  // What a long run leaves: each of the three is there or not, and ends at any hour.
  const double at_last =
      forwarded_percent([](uint32_t) { return 1.0 / 8; },
                        [](int64_t, int64_t hour) { return static_cast<double>(24 - hour) / 24; });
  EXPECT_NEAR(at_last, 20.42, 0.005);
}

// With up to a million subscribers A is 2^16 - 1: each of a number's low 16 bits is one in three of four
// cases.
TEST(TatpGenerator, SomeSubscribersArePreferred) {
  const auto generator = tatp_of(1'000'000, "get_subscriber_data=100")->generator({});
  int low_byte_of_ones = 0;
  for (uint64_t position = 0; position < kTatpCalls; ++position) {
    low_byte_of_ones += ((generator->call(position).arguments[0].scalar.as_int() - 1) & 255) == 255;
  }
  EXPECT_NEAR(low_byte_of_ones, kTatpCalls * std::pow(0.75, 8), kTatpCalls * 0.01);
}

class TatpChecks : public testing::Test {
 protected:
  TatpChecks()
      : workload_(tatp_of(50)), program_(compiled(*workload_)), rows_(program_->catalog, *workload_) {}

  // The values of the table's first row.
  Value& value(const char* table, const char* column) {
    return rows_.rows(table).front()[rows_.column(table, column)];
  }

  const std::unique_ptr<Workload> workload_;
  const std::unique_ptr<Program> program_;
  MemoryRows rows_;
};

TEST_F(TatpChecks, ThePopulationMeetsAll) {
  EXPECT_EQ(workload_->check(rows_, {}).size(), 6u);
  EXPECT_EQ(workload_->check(rows_, 0).size(), 7u);
  EXPECT_THAT(violated(workload_->check(rows_, 0)), IsEmpty());
}

TEST_F(TatpChecks, FindAChangedValue) {
  struct Case {
    const char* table;
    const char* column;
    int64_t value;
    std::vector<std::string> conditions;
  };
  const Case cases[] = {
      {"subscriber", "bit_10", 2, {"values"}},
      {"subscriber", "hex_1", 16, {"values"}},
      {"subscriber", "byte2_10", 256, {"values"}},
      {"subscriber", "byte2_10", 255, {}},
      {"subscriber", "vlr_location", 0, {"values"}},
      {"subscriber", "s_id", 51, {"sub_nbr", "population"}},
      {"access_info", "ai_type", 5, {"types", "population"}},
      {"access_info", "s_id", 51, {"types", "population"}},
      {"special_facility", "is_active", 2, {"types"}},
      {"special_facility", "s_id", 0, {"types", "population", "call_forwarding"}},
      {"call_forwarding", "s_id", 51, {"call_forwarding"}},
      {"call_forwarding", "sf_type", 0, {"call_forwarding"}},
      {"call_forwarding", "start_time", 4, {"times"}},
      {"call_forwarding", "end_time", 25, {"times"}},
      {"call_forwarding", "end_time", 1, {}},
  };
  // A special facility that rules belong to, in front.
  const std::vector<Value> rule = rows_.rows("call_forwarding").front();
  auto& facilities = rows_.rows("special_facility");
  const auto its = std::ranges::find_if(facilities, [&](const std::vector<Value>& facility) {
    return facility[0].as_int() == rule[0].as_int() && facility[1].as_int() == rule[1].as_int();
  });
  std::swap(*its, facilities.front());
  for (const Case& c : cases) {
    const Value before = value(c.table, c.column);
    value(c.table, c.column) = Value::of_int(c.value);
    EXPECT_THAT(violated(workload_->check(rows_, {})), UnorderedElementsAreArray(c.conditions))
        << c.table << "." << c.column << " = " << c.value;
    value(c.table, c.column) = before;
  }
}

TEST_F(TatpChecks, FindAMissingOrDoubledRow) {
  rows_.rows("call_forwarding").pop_back();
  EXPECT_THAT(violated(workload_->check(rows_, {})), IsEmpty());  // a deletion, and allowed
  EXPECT_THAT(violated(workload_->check(rows_, 0)), UnorderedElementsAreArray({"rules"}));
  EXPECT_THAT(violated(workload_->check(rows_, -1)), IsEmpty());
  rows_.rows("access_info").push_back(rows_.rows("access_info").front());
  EXPECT_THAT(violated(workload_->check(rows_, {})), UnorderedElementsAreArray({"types"}));
  rows_.rows("access_info").pop_back();
  rows_.rows("access_info").pop_back();
  EXPECT_THAT(violated(workload_->check(rows_, {})), UnorderedElementsAreArray({"population"}));
}

TEST_F(TatpChecks, OnlyRulesAreConserved) {
  const auto delta = [&](tatp::Procedure procedure) {
    Call call;
    call.procedure = tatp::id_of(procedure);
    return static_cast<int64_t>(workload_->conserved_delta(call, {}));
  };
  EXPECT_EQ(delta(tatp::Procedure::kInsertCallForwarding), 1);
  EXPECT_EQ(delta(tatp::Procedure::kDeleteCallForwarding), -1);
  EXPECT_EQ(delta(tatp::Procedure::kUpdateLocation), 0);
}

}  // namespace
}  // namespace mneme
