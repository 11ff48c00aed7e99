// TPC-B's calls have the proportions that the specification gives them, or the skew that is asked for, and
// depend on stream and position alone; its conditions hold for books that agree, and find each that does not.
#include "workloads/tpcb/tpcb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "procedures/interpreter/call_text.h"
#include "workloads/shared/memory_rows.h"
#include "workloads/testing/test_checks.h"

namespace mneme {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

constexpr int kTpcbCalls = 100'000;

std::unique_ptr<Workload> tpcb_of(const tpcb::Scale& scale, double skew = 0) {
  return std::move(tpcb::Tpcb::make(scale, skew, 1, "default")).value();
}

TEST(TpcbGenerator, ACallDependsOnItsStreamAndPositionAlone) {
  const std::unique_ptr<Workload> workload = tpcb_of({.branches = 3});
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
  for (uint64_t position = 500; position-- > 0;) {
    EXPECT_EQ(print_call(*program, backward->call(position)), calls[position]);
    EXPECT_NE(print_call(*program, other_worker->call(position)), calls[position]);
    EXPECT_NE(print_call(*program, other_life->call(position)), calls[position]);
  }
}

TEST(TpcbGenerator, CallsAreAsSpecified) {
  const tpcb::Scale scale{.branches = 4, .accounts_per_branch = 1'000};
  const auto generator = tpcb_of(scale)->generator({});
  std::map<int64_t, int> branches, tellers, accounts;
  int remote = 0;
  int64_t last_time = 0, sum = 0;
  for (uint64_t position = 0; position < kTpcbCalls; ++position) {
    const Call& call = generator->call(position);
    ASSERT_EQ(call.arguments.size(), 6u);
    const int64_t account = call.arguments[0].scalar.as_int();
    const int64_t teller = call.arguments[1].scalar.as_int();
    const int64_t branch = call.arguments[2].scalar.as_int();
    const int64_t delta = call.arguments[3].scalar.as_int();
    EXPECT_EQ(scale.branch_of_teller(teller), branch);
    remote += scale.branch_of_account(account) != branch;
    ++branches[branch];
    ++tellers[teller];
    ++accounts[account];
    EXPECT_TRUE(delta >= -999'999 && delta <= 999'999);
    sum += delta;
    EXPECT_GT(call.arguments[4].scalar.as_int(), last_time);
    last_time = call.arguments[4].scalar.as_int();
  }
  EXPECT_NEAR(remote, kTpcbCalls * 0.15, kTpcbCalls * 0.005);
  ASSERT_EQ(branches.size(), 4u);
  for (const auto& [branch, count] : branches)
    EXPECT_NEAR(count, kTpcbCalls / 4.0, kTpcbCalls * 0.01) << branch;
  EXPECT_EQ(tellers.size(), 40u);
  EXPECT_EQ(accounts.begin()->first, 1);
  EXPECT_EQ(accounts.rbegin()->first, 4'000);
  EXPECT_GT(accounts.size(), 3'990u);
  EXPECT_NEAR(static_cast<double>(sum) / kTpcbCalls, 0, 10'000);
}

TEST(TpcbGenerator, ALoneBranchHasNoRemoteAccounts) {
  const auto generator = tpcb_of({.branches = 1, .accounts_per_branch = 10})->generator({});
  for (uint64_t position = 0; position < 1'000; ++position) {
    const int64_t account = generator->call(position).arguments[0].scalar.as_int();
    EXPECT_TRUE(account >= 1 && account <= 10);
  }
}

TEST(TpcbGenerator, SkewPrefersSomeBranchesAndAccounts) {
  const tpcb::Scale scale{.branches = 10, .accounts_per_branch = 1'000};
  const auto generator = tpcb_of(scale, 0.8)->generator({});
  std::map<int64_t, int> branches;
  int first_accounts = 0, remote = 0;
  for (uint64_t position = 0; position < kTpcbCalls; ++position) {
    const Call& call = generator->call(position);
    const int64_t account = call.arguments[0].scalar.as_int();
    ++branches[call.arguments[2].scalar.as_int()];
    first_accounts += account % 1'000 == 1;
    remote += scale.branch_of_account(account) != call.arguments[2].scalar.as_int();
  }
  EXPECT_EQ(branches.size(), 10u);
  EXPECT_NEAR(branches[1], kTpcbCalls * Zipf(10, 0.8).highest_probability(), kTpcbCalls * 0.01);
  EXPECT_NEAR(first_accounts, kTpcbCalls * Zipf(1'000, 0.8).highest_probability(), kTpcbCalls * 0.005);
  EXPECT_NEAR(remote, kTpcbCalls * 0.15, kTpcbCalls * 0.005);
}

class TpcbChecks : public testing::Test {
 protected:
  TpcbChecks()
      : workload_(tpcb_of({.branches = 2, .accounts_per_branch = 20})),
        program_(compiled(*workload_)),
        rows_(program_->catalog, *workload_) {
    // Teller 3 of branch 1 for the branch's account 5, teller 20 of branch 2 for account 6 of branch 1.
    book(3, 1, 5, 100);
    book(20, 2, 6, -30);
  }

  // All that account_update does.
  void book(int64_t teller, int64_t branch, int64_t account, int64_t delta) {
    add("account", account, "a_balance", delta);
    add("teller", teller, "t_balance", delta);
    add("branch", branch, "b_balance", delta);
    rows_.rows("history").push_back({Value::of_int(teller), Value::of_int(branch), Value::of_int(account),
                                     Value::of_int(delta), Value::of_int(0), Value::of_text("")});
  }

  // Rows are in the order of their numbers.
  void add(const char* table, int64_t number, const char* column, int64_t delta) {
    Value& value = rows_.rows(table)[static_cast<size_t>(number - 1)][rows_.column(table, column)];
    value = Value::of_int(value.as_int() + delta);
  }

  std::vector<std::string> violations() const { return violated(workload_->check(rows_, 70)); }

  const std::unique_ptr<Workload> workload_;
  const std::unique_ptr<Program> program_;
  MemoryRows rows_;
};

TEST_F(TpcbChecks, BooksThatAgreeMeetAll) {
  EXPECT_EQ(workload_->check(rows_, {}).size(), 6u);
  EXPECT_EQ(workload_->check(rows_, 70).size(), 7u);
  EXPECT_THAT(violations(), IsEmpty());
  EXPECT_THAT(violated(workload_->check(rows_, 71)), UnorderedElementsAreArray({"total"}));
}

TEST_F(TpcbChecks, FindAnUpdateThatWasLost) {
  add("account", 6, "a_balance", 30);
  EXPECT_THAT(violations(), UnorderedElementsAreArray({"accounts", "branch_accounts", "total"}));
  add("account", 6, "a_balance", -30);
  add("teller", 3, "t_balance", -100);
  EXPECT_THAT(violations(), UnorderedElementsAreArray({"branches", "tellers"}));
  add("teller", 3, "t_balance", 100);
  add("branch", 2, "b_balance", 30);
  EXPECT_THAT(violations(), UnorderedElementsAreArray({"branches"}));
  add("branch", 2, "b_balance", -30);
  rows_.rows("history").pop_back();
  EXPECT_THAT(violations(),
              UnorderedElementsAreArray({"branches", "branch_accounts", "tellers", "accounts"}));
}

TEST_F(TpcbChecks, FindRowsThatDoNotBelong) {
  rows_.rows("history").back()[1] = Value::of_int(1);  // not teller 20's branch
  EXPECT_THAT(violations(),
              UnorderedElementsAreArray({"numbers", "branches", "branch_accounts", "tellers", "accounts"}));
  rows_.rows("history").back()[1] = Value::of_int(2);
  EXPECT_THAT(violations(), IsEmpty());
  rows_.rows("account").pop_back();
  EXPECT_THAT(violations(), UnorderedElementsAreArray({"population"}));
  rows_.rows("account").back()[1] = Value::of_int(1);
  EXPECT_THAT(violations(), UnorderedElementsAreArray({"numbers", "population"}));
}

TEST_F(TpcbChecks, TheDeltaOfACallIsItsDelta) {
  const auto generator = workload_->generator({});
  const Call& call = generator->call(17);
  EXPECT_EQ(static_cast<int64_t>(workload_->conserved_delta(call, {})), call.arguments[3].scalar.as_int());
}

}  // namespace
}  // namespace mneme
