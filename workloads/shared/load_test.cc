// Loading: a database holds the population, whatever number of threads loaded it, and meets the workload's
// conditions.
#include "workloads/shared/load.h"

#include <gtest/gtest.h>

#include "engine/transaction/digest.h"
#include "procedures/binder/program.h"
#include "workloads/smallbank/smallbank.h"
#include "workloads/tpcc/tpcc.h"

namespace mneme {
namespace {

std::unique_ptr<Workload> tpcc_to_load(uint64_t seed) {
  return std::move(tpcc::Tpcc::make({.warehouses = 2, .items = 200, .customers = 40}, seed, "default"))
      .value();
}

std::unique_ptr<Workload> smallbank_to_load(uint64_t seed) {
  return std::move(smallbank::Smallbank::make(25'000, {}, seed, "default")).value();
}

// The digest of the workload's database, once it is found to be in order.
Digest digest_of_loaded(const Workload& workload, uint32_t threads) {
  const std::unique_ptr<Program> program = std::move(compile(workload.sql(), workload.name())).value();
  Database database(program->catalog, /*worker_count=*/1);
  const Result<void> loaded = load(workload, database, threads, [](uint32_t, uint32_t) {});
  EXPECT_TRUE(loaded.ok()) << loaded.error().message;

  const Result<IndexReport> indexes = verify_indexes(database);
  EXPECT_TRUE(indexes.ok()) << indexes.error().message;
  for (const Check& check : workload.check(DatabaseRows(database), 0)) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  return digest_of(database, threads);
}

TEST(Load, DoesNotDependOnTheNumberOfThreads) {
  const Digest tpcc = digest_of_loaded(*tpcc_to_load(1), 1);
  const Digest smallbank = digest_of_loaded(*smallbank_to_load(1), 1);
  for (const uint32_t threads : {2, 5}) {
    EXPECT_EQ(digest_of_loaded(*tpcc_to_load(1), threads), tpcc);
    EXPECT_EQ(digest_of_loaded(*smallbank_to_load(1), threads), smallbank);
  }
  EXPECT_NE(digest_of_loaded(*tpcc_to_load(2), 1), tpcc);
  EXPECT_NE(digest_of_loaded(*smallbank_to_load(2), 1), smallbank);
}

}  // namespace
}  // namespace mneme
