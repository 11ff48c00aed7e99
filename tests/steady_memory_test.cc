// Goal: at a steady row count a database stops growing: slots of deleted rows, index nodes and overflow
// blocks are used again. Method: counting, so that no clock has a part: after calls that let free slots and
// nodes find their level, several times as many more must get by with what is there. Two workers in turns,
// whose inserts and deletes meet in the same tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "logging/commit/order_log.h"
#include "procedures/session/session.h"
#include "workloads/shared/load.h"
#include "workloads/workload_table.h"

namespace mneme {
namespace {

constexpr uint32_t kWorkers = 2;
// Slots that a worker keeps at hand, and those that wait until no transaction can hold them.
constexpr uint64_t kMoreFree = 500;

class SteadyRun {
 public:
  SteadyRun(const std::string& name, const std::string& mix) : log_(kFirstLsn) {
    WorkloadOptions options;
    options.mix = mix;
    workload_ = *make_workload(name, options);
    program_ = *compile(workload_->sql(), name + ".sql");
    database_ = std::make_unique<Database>(program_->catalog, kWorkers);
    CHECK(load(*workload_, *database_, kWorkers, [](uint32_t, uint32_t) {}).ok());
    database_->attach_log(log_);
    for (uint32_t i = 0; i < kWorkers; ++i) {
      sessions_.push_back(std::make_unique<Session>(*program_, *database_, WorkerId{i}));
      calls_.push_back(workload_->generator({i, kWorkers, 0}));
    }
  }

  void calls(uint64_t count) {
    for (uint64_t end = position_ + count; position_ < end; ++position_) {
      for (uint32_t i = 0; i < kWorkers; ++i) {
        const CallResult result = sessions_[i]->run(calls_[i]->call(position_));
        ASSERT_TRUE(result.committed() || result.status == CallResult::Status::kRolledBack) << result.message;
        committed_ += result.committed();
      }
    }
  }

  // The calls that committed so far.
  uint64_t committed() const { return committed_; }
  const Database& database() const { return *database_; }
  // The slots of a table.
  struct Slots {
    uint64_t used = 0;  // at any time so far
    uint64_t live = 0;
  };
  Slots slots(const char* name) const {
    const Table& rows = table(name).rows();
    Slots slots{rows.slot_end()};
    rows.for_each_live(0, rows.slot_end(), [&](const Row*) { ++slots.live; });
    return slots;
  }
  size_t index_bytes(const char* name) const {
    size_t bytes = 0;
    for (const TableIndex& index : table(name).indexes()) bytes += index.index->memory_bytes();
    return bytes;
  }

 private:
  const IndexedTable& table(const char* name) const {
    return database_->table(program_->catalog.find_table(name)->id);
  }

  OrderLog log_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Database> database_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<std::unique_ptr<CallGenerator>> calls_;
  uint64_t position_ = 0;
  uint64_t committed_ = 0;
};

// More slots only where there are more rows.
void expect_no_more(const SteadyRun::Slots& before, const SteadyRun::Slots& after) {
  EXPECT_LE(after.used, before.used + std::max(before.live, after.live) - before.live + kMoreFree);
}

TEST(SteadyMemory, UpdatesTakeNone) {
  SteadyRun run("smallbank", "default");
  const size_t before = run.database().memory_bytes();
  run.calls(10'000);
  EXPECT_EQ(run.database().memory_bytes(), before);
}

TEST(SteadyMemory, InsertsAndDeletesUseFreeSlotsAgain) {
  SteadyRun run("tatp", "insert_call_forwarding=50,delete_call_forwarding=50");
  run.calls(2'000);
  const SteadyRun::Slots before = run.slots("call_forwarding");
  const size_t index_bytes = run.index_bytes("call_forwarding");
  const uint64_t committed = run.committed();
  run.calls(20'000);
  ASSERT_GT(run.committed() - committed, 5'000u) << "too few calls found something to insert or to delete";
  expect_no_more(before, run.slots("call_forwarding"));
  EXPECT_LE(run.index_bytes("call_forwarding"), index_bytes + kHugePageBytes);
}

TEST(SteadyMemory, AQueueUsesFreeSlotsAgain) {
  // new_order is one: orders come in at one end, but for those rolled back; each delivery takes ten from the
  // other.
  SteadyRun run("tpcc", "new_order=91,delivery=9");
  run.calls(1'000);
  const SteadyRun::Slots before = run.slots("new_order");
  const size_t index_bytes = run.index_bytes("new_order");
  run.calls(5'000);
  expect_no_more(before, run.slots("new_order"));
  EXPECT_LE(run.index_bytes("new_order"), index_bytes);
}

}  // namespace
}  // namespace mneme
