// Goal: commit order is log order. Method: threads run random transactions on a few rows and note all that
// they saw. Then the committed ones are run again, one after the other in the order of their LSNs, on a
// std::map: each must see there what it saw before, anti-dependencies and absences included, and the end must
// be the same. A transaction that wrote nothing (or was rolled back by its user) must fit in somewhere after
// the highest LSN that it read. Of a log that leaves holes, the same must hold without transactions that
// stand for ever in the filling of their record, as if a crash had taken it.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "engine/testing/test_database.h"
#include "engine/transaction/digest.h"

namespace mneme {
namespace {

constexpr int64_t kIds = 24;
constexpr int64_t kGroups = 4;

struct ModelRow {
  int64_t group;
  int64_t code;
  int64_t amount;

  bool operator==(const ModelRow&) const = default;
};
using Model = std::map<int64_t, ModelRow>;

struct Op {
  enum class Kind {
    kFind,
    kFindCode,
    kGroupForward,
    kGroupBackward,
    kRange,
    kInsert,
    kAdd,
    kRegroup,
    kRecode,
    kRename,
    kErase
  };
  static constexpr int kKinds = 11;
  Kind kind;
  int64_t id;
  int64_t argument;
};

// An operation's answer: found values, or kDuplicate; and its request to the transaction.
constexpr int64_t kDuplicate = -7;
struct Answer {
  AccessStatus status = AccessStatus::kOk;
  std::vector<int64_t> seen;
};

struct Trace {
  std::vector<Op> ops;
  std::vector<std::vector<int64_t>> seen;
  Lsn lsn;
  bool wrote;
};

// ---- on the database ----

class OnDatabase {
 public:
  OnDatabase(TestDatabase& t, Transaction& x) : t_(t), x_(x) {}

  Answer run(const Op& op) {
    switch (op.kind) {
      case Op::Kind::kFind:
        return find(t_.kById, t_.id_key(op.id));
      case Op::Kind::kFindCode:
        return find(t_.kByCode, t_.code_key(op.argument % kIds));
      case Op::Kind::kGroupForward:
        return scan(t_.kByGroup, t_.group_range(op.argument % kGroups), RowAccess::Direction::kForward, 3);
      case Op::Kind::kGroupBackward:
        return scan(t_.kByGroup, t_.group_range(op.argument % kGroups), RowAccess::Direction::kBackward, 100);
      case Op::Kind::kRange:
        // By primary key where it has an order, else by all groups.
        return t_.db.catalog().index(t_.kById).ordered
                   ? scan(t_.kById, t_.id_range(op.id, op.id + 5), RowAccess::Direction::kForward, 100)
                   : scan(t_.kByGroup, t_.group_range(op.id % kGroups), RowAccess::Direction::kForward, 100);
      case Op::Kind::kInsert:
        return done(t_.insert(x_, op.id, op.argument % kGroups, op.argument % kIds, op.argument));
      case Op::Kind::kAdd:
        return change(op.id, t_.kAmount, [&](int64_t old) { return old * 3 + op.argument; });
      case Op::Kind::kRegroup:
        return change(op.id, t_.kGroup, [&](int64_t) { return op.argument % kGroups; });
      case Op::Kind::kRecode:
        return change(op.id, t_.kCode, [&](int64_t) { return op.argument % kIds; });
      case Op::Kind::kRename:
        return change(op.id, t_.kId, [&](int64_t) { return op.argument % kIds; });
      case Op::Kind::kErase: {
        RowRef row;
        const AccessStatus status = x_.find(t_.kById, t_.id_key(op.id), row);
        if (status != AccessStatus::kOk) return done(status);
        Answer answer = values(row);
        answer.status = x_.erase(t_.kItem, row);
        return answer;
      }
    }
    return {};
  }

 private:
  Answer values(const RowRef& row) const {
    return {AccessStatus::kOk,
            {t_.get(row, t_.kId), t_.get(row, t_.kGroup), t_.get(row, t_.kCode), t_.get(row, t_.kAmount)}};
  }
  static Answer done(AccessStatus status) {
    if (status == AccessStatus::kDuplicateKey) return {status, {kDuplicate}};
    return {status == AccessStatus::kAbsent ? AccessStatus::kOk : status, {}};
  }
  Answer find(IndexId index, const IndexKey& key) {
    RowRef row;
    const AccessStatus status = x_.find(index, key, row);
    return status == AccessStatus::kOk ? values(row) : done(status);
  }
  Answer scan(IndexId index, const KeyRange& range, RowAccess::Direction direction, size_t limit) {
    Answer answer;
    size_t rows = 0;
    answer.status = x_.scan(index, range, direction, [&](const RowRef& row) {
      const Answer one = values(row);
      answer.seen.insert(answer.seen.end(), one.seen.begin(), one.seen.end());
      return ++rows < limit;
    });
    return answer;
  }
  template <typename F>
  Answer change(int64_t id, ColumnId column, F&& next) {
    RowRef row;
    AccessStatus status = x_.find(t_.kById, t_.id_key(id), row);
    if (status != AccessStatus::kOk) return done(status);
    Answer answer = values(row);
    const ColumnValue change{column, Value::of_int(next(t_.get(row, column)))};
    answer.status = x_.update(t_.kItem, row, {&change, 1});
    if (answer.status == AccessStatus::kDuplicateKey) answer.seen.push_back(kDuplicate);
    return answer;
  }

  TestDatabase& t_;
  Transaction& x_;
};

// ---- on the model ----

class OnModel {
 public:
  OnModel(Model& rows, bool ordered) : rows_(rows), ordered_(ordered) {}

  std::vector<int64_t> run(const Op& op) {
    switch (op.kind) {
      case Op::Kind::kFind:
        return find(op.id);
      case Op::Kind::kFindCode: {
        const Model::iterator row = with_code(op.argument % kIds);
        return row == rows_.end() ? std::vector<int64_t>{} : values(row);
      }
      case Op::Kind::kGroupForward:
        return group(op.argument % kGroups, true, 3);
      case Op::Kind::kGroupBackward:
        return group(op.argument % kGroups, false, 100);
      case Op::Kind::kRange: {
        if (!ordered_) return group(op.id % kGroups, true, 100);
        std::vector<int64_t> seen;
        for (auto row = rows_.lower_bound(op.id); row != rows_.upper_bound(op.id + 5); ++row)
          append(seen, row);
        return seen;
      }
      case Op::Kind::kInsert:
        if (rows_.contains(op.id) || with_code(op.argument % kIds) != rows_.end()) return {kDuplicate};
        rows_[op.id] = {op.argument % kGroups, op.argument % kIds, op.argument};
        return {};
      default:
        return change(op);
    }
  }

 private:
  static void append(std::vector<int64_t>& seen, Model::iterator row) {
    for (int64_t value : values(row)) seen.push_back(value);
  }
  static std::vector<int64_t> values(Model::iterator row) {
    return {row->first, row->second.group, row->second.code, row->second.amount};
  }
  std::vector<int64_t> find(int64_t id) {
    const auto row = rows_.find(id);
    return row == rows_.end() ? std::vector<int64_t>{} : values(row);
  }
  Model::iterator with_code(int64_t code) {
    return std::ranges::find_if(rows_, [&](const auto& row) { return row.second.code == code; });
  }
  std::vector<int64_t> group(int64_t group, bool forward, size_t limit) {
    std::vector<Model::iterator> found;
    for (auto row = rows_.begin(); row != rows_.end(); ++row) {
      if (row->second.group == group) found.push_back(row);
    }
    if (!forward) std::ranges::reverse(found);
    std::vector<int64_t> seen;
    for (size_t i = 0; i < std::min(limit, found.size()); ++i) append(seen, found[i]);
    return seen;
  }
  std::vector<int64_t> change(const Op& op) {
    const auto row = rows_.find(op.id);
    std::vector<int64_t> seen = find(op.id);
    if (row == rows_.end()) return seen;
    if (op.kind == Op::Kind::kErase) {
      rows_.erase(row);
    } else if (op.kind == Op::Kind::kAdd) {
      row->second.amount = row->second.amount * 3 + op.argument;
    } else if (op.kind == Op::Kind::kRegroup) {
      row->second.group = op.argument % kGroups;
    } else if (op.kind == Op::Kind::kRecode) {
      const auto holder = with_code(op.argument % kIds);
      if (holder != rows_.end() && holder != row) {
        seen.push_back(kDuplicate);
      } else {
        row->second.code = op.argument % kIds;
      }
    } else if (op.argument % kIds != op.id) {
      const ModelRow values = row->second;
      if (rows_.contains(op.argument % kIds)) {
        seen.push_back(kDuplicate);
      } else {
        rows_.erase(row);
        rows_[op.argument % kIds] = values;
      }
    }
    return seen;
  }

  Model& rows_;
  const bool ordered_;
};

bool sees_the_same(const Trace& run, Model& model, bool ordered) {
  for (size_t i = 0; i < run.ops.size(); ++i) {
    if (OnModel(model, ordered).run(run.ops[i]) != run.seen[i]) return false;
  }
  return true;
}

// ---- the test ----

struct Setting {
  const char* name;
  bool ordered;
  bool held_back;  // nothing becomes durable: tombstones and stale entries stay
  Concurrency concurrency{};
  bool on_demand = false;  // of a log that is held back: all becomes durable when somebody waits
  bool leaves_holes = false;
};

// A worker's.
struct Work {
  int runs;
  int most_attempts = std::numeric_limits<int>::max();  // of a run, which is then given up
};

constexpr Concurrency kLocking{ConcurrencyControl::kTwoPhaseLocking, /*early_lock_release=*/true};
constexpr Concurrency kLateRelease{ConcurrencyControl::kTwoPhaseLocking, /*early_lock_release=*/false};

class SerializabilityTest : public testing::TestWithParam<Setting> {
 protected:
  static constexpr uint32_t kWorkers = 3;
  static int runs_each() {
    return GetParam().concurrency.control == ConcurrencyControl::kOptimistic ? 4000 : 2000;
  }

  static std::vector<Op> random_ops(std::mt19937_64& random) {
    std::vector<Op> ops(1 + random() % 5);
    for (Op& op : ops) {
      op = {static_cast<Op::Kind>(random() % Op::kKinds), static_cast<int64_t>(random() % kIds),
            static_cast<int64_t>(random() % 1000)};
    }
    return ops;
  }

  // The outcome of one attempt; nothing on a conflict.
  static std::optional<Trace> attempt(TestDatabase& t, Transaction& x, const std::vector<Op>& ops,
                                      std::mt19937_64& random) {
    Trace run;
    OnDatabase database(t, x);
    bool refused = false;
    for (const Op& op : ops) {
      Answer answer = database.run(op);
      if (answer.status == AccessStatus::kConflict) {
        x.abort();
        return std::nullopt;
      }
      run.ops.push_back(op);
      run.seen.push_back(std::move(answer.seen));
      refused = answer.status == AccessStatus::kDuplicateKey;
      if (refused) break;
      if (random() % 2 == 0) std::this_thread::yield();
    }
    if (!GetParam().concurrency.early_lock_release) {
      EXPECT_LT(x.highest_read(), t.log.durable()) << "what it saw might be lost";
    }
    const bool roll_back = refused || random() % 10 == 0;
    const CommitOutcome outcome = roll_back ? x.roll_back() : TestDatabase::commit(x);
    if (outcome.status != CommitStatus::kCommitted) return std::nullopt;
    run.lsn = outcome.lsn;
    run.wrote = outcome.wrote;
    return run;
  }

  static void work(TestDatabase& t, WorkerId id, std::vector<Trace>& committed, uint64_t& conflicts,
                   const Work& work) {
    std::mt19937_64 random(id.value + 1);
    Transaction x(t.db, t.db.worker(id));
    for (int i = 0; i < work.runs; ++i) {
      const std::vector<Op> ops = random_ops(random);
      x.begin();
      std::optional<Trace> run;
      for (int attempts = 1; !(run = attempt(t, x, ops, random)) && attempts < work.most_attempts;
           ++attempts) {
        ++conflicts;
        std::this_thread::yield();
        x.begin_again();
      }
      x.abort();  // what was given up
      if (run) committed.push_back(std::move(*run));
    }
  }

  // Replays writers in LSN order; the others wait until a state comes in which they saw what they saw.
  static void check(std::vector<Trace> runs, bool ordered, Model& model) {
    std::ranges::sort(runs, [](const Trace& a, const Trace& b) {
      return std::pair(a.lsn, !a.wrote) < std::pair(b.lsn, !b.wrote);
    });
    std::vector<const Trace*> waiting;
    const auto settle = [&] {
      std::erase_if(waiting, [&](const Trace* run) {
        Model copy = model;
        return sees_the_same(*run, copy, ordered);
      });
    };
    for (size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].wrote) {
        settle();
        ASSERT_TRUE(sees_the_same(runs[i], model, ordered)) << "the writer at LSN " << runs[i].lsn.value;
      } else {
        waiting.push_back(&runs[i]);
      }
    }
    settle();
    EXPECT_TRUE(waiting.empty()) << waiting.size() << " transactions saw what never was";
  }

  static Model contents(const Database& db) {
    Model model;
    const IndexedTable& table = db.table(TestDatabase::kItem);
    table.rows().for_each_live(0, table.rows().slot_end(), [&](const Row* row) {
      const auto get = [&](ColumnId column) { return table.layout().get(row->image(), column).as_int(); };
      model[get(TestDatabase::kId)] = {get(TestDatabase::kGroup), get(TestDatabase::kCode),
                                       get(TestDatabase::kAmount)};
    });
    return model;
  }
};

TEST_P(SerializabilityTest, LogOrderReproducesAllThatWasSeen) {
  TestDatabase t(kWorkers, GetParam().ordered);
  t.db.set_concurrency(GetParam().concurrency);
  t.log.hold_back(GetParam().held_back, GetParam().on_demand);
  if (GetParam().leaves_holes) t.log.leave_holes();
  std::vector<std::vector<Trace>> committed(kWorkers);
  std::vector<uint64_t> conflicts(kWorkers);
  {
    std::vector<std::jthread> threads;
    for (uint32_t i = 0; i < kWorkers; ++i) {
      threads.emplace_back([&, i] { work(t, WorkerId{i}, committed[i], conflicts[i], {runs_each()}); });
    }
  }
  std::vector<Trace> runs;
  for (std::vector<Trace>& some : committed) std::ranges::move(some, std::back_inserter(runs));
  uint64_t total_conflicts = 0;
  for (const uint64_t some : conflicts) total_conflicts += some;
  EXPECT_GT(total_conflicts, 0u) << "threads that never meet test nothing";

  Model model;
  check(std::move(runs), GetParam().ordered, model);
  EXPECT_EQ(contents(t.db), model);

  // At rest, and everything durable: what is not live goes, entirely.
  t.log.hold_back(false);
  for (int round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < kWorkers; ++i) t.db.worker(WorkerId{i}).tidy(t.log, 1u << 20);
  }
  const Result<IndexReport> report = verify_indexes(t.db);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->rows, model.size());
  EXPECT_EQ(report->waiting, 0u);
}

class HolesTest : public SerializabilityTest {
 protected:
  static constexpr uint32_t kStopped = 2;  // the first ones
  static constexpr uint64_t kFillsBefore = 100;
};

TEST_P(HolesTest, WhatACrashTakesAloneIsMissedByNobody) {
  constexpr uint32_t kAll = kStopped + 2;
  TestDatabase t(kAll, GetParam().ordered);
  // Written by the stopped workers (release: their traces are complete), read by the test (acquire).
  std::atomic<uint32_t> stopped{0};
  std::atomic<bool> go_on{false};  // the other way round
  std::vector<uint64_t> fills(kAll);
  t.log.leave_holes([&](WorkerId worker, Lsn) {
    if (worker.value >= kStopped || ++fills[worker.value] != kFillsBefore) return;
    stopped.fetch_add(1, std::memory_order_release);
    while (!go_on.load(std::memory_order_acquire)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  std::vector<std::vector<Trace>> committed(kAll);
  std::vector<uint64_t> conflicts(kAll);
  std::vector<std::jthread> threads;
  for (uint32_t i = 0; i < kAll; ++i) {
    threads.emplace_back([&, i] { work(t, WorkerId{i}, committed[i], conflicts[i], {1000, 3}); });
  }
  for (uint32_t i = kStopped; i < kAll; ++i) threads[i].join();
  while (stopped.load(std::memory_order_acquire) < kStopped) std::this_thread::yield();

  std::vector<Trace> runs;
  for (const std::vector<Trace>& some : committed) runs.insert(runs.end(), some.begin(), some.end());
  Model model;
  check(std::move(runs), GetParam().ordered, model);
  EXPECT_EQ(contents(t.db), model);
  go_on.store(true, std::memory_order_release);
}

// Optimistic only: under two-phase locking an older transaction waits for a younger one that has stopped.
INSTANTIATE_TEST_SUITE_P(Settings, HolesTest,
                         testing::Values(Setting{"Btree", true, false}, Setting{"Hash", false, false}),
                         [](const testing::TestParamInfo<Setting>& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Settings, SerializabilityTest,
                         testing::Values(Setting{"Btree", true, false}, Setting{"Hash", false, false},
                                         Setting{"BtreeHeldBack", true, true},
                                         Setting{"HashHeldBack", false, true},
                                         Setting{"LockingBtree", true, false, kLocking},
                                         Setting{"LockingHashHeldBack", false, true, kLocking},
                                         Setting{"LockingBtreeLateRelease", true, true, kLateRelease, true},
                                         Setting{"LockingHashLateRelease", false, true, kLateRelease, true},
                                         Setting{"BtreeHoles", true, false, {}, false, true},
                                         Setting{"LockingHashHoles", false, false, kLocking, false, true}),
                         [](const testing::TestParamInfo<Setting>& info) { return info.param.name; });

}  // namespace
}  // namespace mneme
