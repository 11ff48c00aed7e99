// Workloads audit themselves: after several workers have made calls at once, every consistency condition
// holds, every index agrees with its table, and what a workload conserves (Smallbank: money) is what the
// committed calls say that it is.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/testing/test_database.h"
#include "engine/transaction/digest.h"
#include "procedures/binder/program.h"
#include "procedures/session/session.h"
#include "workloads/shared/load.h"
#include "workloads/smallbank/smallbank.h"
#include "workloads/tatp/tatp.h"
#include "workloads/tpcb/tpcb.h"
#include "workloads/tpcc/tpcc.h"
#include "workloads/ycsb/ycsb.h"

namespace mneme {
namespace {

constexpr uint32_t kWorkers = 4;

// The results of one worker's calls.
struct Account {
  uint64_t committed = 0;
  uint64_t rolled_back = 0;
  int128 conserved = 0;
};

Account make_calls(const Workload& workload, const Program& program, Database& database, uint32_t worker,
                   uint64_t calls) {
  Account account;
  Session session(program, database, WorkerId(worker));
  const auto generator = workload.generator({.worker = worker, .worker_count = kWorkers});
  for (uint64_t position = 0; position < calls; ++position) {
    const Call& call = generator->call(position);
    const CallResult result = session.run(call);
    if (result.status == CallResult::Status::kRolledBack) {
      ++account.rolled_back;
      continue;
    }
    EXPECT_TRUE(result.committed()) << result.message;
    ++account.committed;
    account.conserved += workload.conserved_delta(call, result.results);
  }
  return account;
}

enum class Rollbacks { kSome, kNone };

void run_and_audit_under(const Concurrency& concurrency, const Workload& workload, uint64_t calls,
                         Rollbacks rollbacks) {
  const std::unique_ptr<Program> program = std::move(compile(workload.sql(), workload.name())).value();
  CountingLog log;
  Database database(program->catalog, kWorkers);
  ASSERT_TRUE(load(workload, database, kWorkers, [](uint32_t, uint32_t) {}).ok());
  database.attach_log(log);
  database.set_concurrency(concurrency);
  // With locks that outlast their transactions, there must be something to wait for.
  if (!concurrency.early_lock_release) log.hold_back(true, /*on_demand=*/true);

  std::vector<Account> accounts(kWorkers);
  {
    std::vector<std::jthread> threads;
    for (uint32_t worker = 0; worker < kWorkers; ++worker) {
      threads.emplace_back(
          [&, worker] { accounts[worker] = make_calls(workload, *program, database, worker, calls); });
    }
  }
  Account total;
  for (const Account& account : accounts) {
    total.committed += account.committed;
    total.rolled_back += account.rolled_back;
    total.conserved += account.conserved;
  }
  EXPECT_EQ(total.committed + total.rolled_back, kWorkers * calls);
  EXPECT_EQ(total.rolled_back > 0, rollbacks == Rollbacks::kSome);
  for (const Check& check : workload.check(DatabaseRows(database), total.conserved)) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  const Result<IndexReport> indexes = verify_indexes(database);
  EXPECT_TRUE(indexes.ok()) << indexes.error().message;
}

// Optimistically, and under two-phase locking, with and without early lock release.
void run_and_audit(const Workload& workload, uint64_t calls, Rollbacks rollbacks = Rollbacks::kSome) {
  {
    SCOPED_TRACE("optimistic");
    run_and_audit_under({}, workload, calls, rollbacks);
  }
  for (const bool early_lock_release : {true, false}) {
    SCOPED_TRACE(early_lock_release ? "locking" : "locking, late release");
    run_and_audit_under({ConcurrencyControl::kTwoPhaseLocking, early_lock_release}, workload, calls / 4,
                        rollbacks);
  }
}

TEST(WorkloadStress, TpccMeetsItsConditionsAfterwards) {
  const auto workload =
      std::move(tpcc::Tpcc::make({.warehouses = 2, .items = 300, .customers = 60}, 1,
                                 "new_order=40,payment=40,order_status=5,delivery=10,stock_level=5"))
          .value();
  run_and_audit(*workload, 1'500);
}

TEST(WorkloadStress, SmallbankKeepsItsMoney) {
  const auto workload =
      std::move(smallbank::Smallbank::make(100, {.percent = 90, .customers = 20}, 1, "default")).value();
  run_and_audit(*workload, 4'000);
}

TEST(WorkloadStress, TatpKeepsItsRegister) {
  const auto workload =
      std::move(tatp::Tatp::make(20, 1,
                                 "get_new_destination=20,update_subscriber_data=20,update_location=20,"
                                 "insert_call_forwarding=20,delete_call_forwarding=20"))
          .value();
  run_and_audit(*workload, 4'000);
}

TEST(WorkloadStress, TpcbKeepsItsBooks) {
  const auto workload =
      std::move(tpcb::Tpcb::make({.branches = 2, .accounts_per_branch = 50}, 0.8, 1, "default")).value();
  run_and_audit(*workload, 4'000, Rollbacks::kNone);
}

// Popular records, a small part of the fields' text, and scans that meet inserts.
TEST(WorkloadStress, YcsbKeepsItsRecords) {
  const auto workload =
      std::move(ycsb::Ycsb::make(
                    {.core_workload = 'D', .records = 100, .field_bytes = 20}, 1,
                    "read_record=20,update_record=30,insert_record=10,scan_records=10,read_modify_write=30"))
          .value();
  run_and_audit(*workload, 4'000, Rollbacks::kNone);
}

}  // namespace
}  // namespace mneme
