// Workloads audit themselves: after several workers have made calls at once, every consistency condition holds, every
// index agrees with its table, and Smallbank's money is what the committed calls say that it is.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/digest.h"
#include "engine/test_database.h"
#include "procedures/program.h"
#include "procedures/session.h"
#include "workloads/load.h"
#include "workloads/smallbank.h"
#include "workloads/tpcc.h"

namespace mneme {
namespace {

constexpr uint32_t kWorkers = 4;

// What one worker's calls came to.
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

void run_and_audit(const Workload& workload, uint64_t calls) {
  const std::unique_ptr<Program> program = std::move(compile(workload.sql(), workload.name())).value();
  CountingLog log;
  Database database(program->catalog, kWorkers);
  ASSERT_TRUE(load(workload, database, kWorkers, [](uint32_t, uint32_t) {}).ok());
  database.attach_log(log);

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
  EXPECT_GT(total.rolled_back, 0u);
  for (const Check& check : workload.check(DatabaseRows(database), total.conserved)) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  const Result<IndexReport> indexes = verify_indexes(database);
  EXPECT_TRUE(indexes.ok()) << indexes.error().message;
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

}  // namespace
}  // namespace mneme
